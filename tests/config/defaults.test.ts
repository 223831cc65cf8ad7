// Facts that are written more than once: in checks.ts, in doc comments and in the README.
import { expect } from "@std/expect";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { root } from "../../scripts/support/files.ts";
import { readNumber } from "../../src/checks.ts";
import { isIdempotent, retryDelay } from "../../src/transport/retry.ts";
import { failure } from "../outcome.ts";

const options = await readFile(join(root, "src/options.ts"), "utf8");
const readme = await readFile(join(root, "README.md"), "utf8");

const units: Record<string, number> = {
  "": 1,
  ms: 1,
  s: 1_000,
  bytes: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
};

/** Reads an amount, such as `30 000 ms` or `10 MiB`; `undefined` when it is none. */
function readAmount(text: string): number | undefined {
  const [, digits, unit = ""] =
    /^(\d[\d\s_,]*?)\s*([a-z]*)$/i.exec(text.replaceAll("`", "").trim()) ??
      [];
  return digits === undefined ? undefined : Number(digits.replace(/\D/g, "")) * units[unit]!;
}

/** The amounts beside the name of an option in the README's tables. */
function amountsInReadme(name: string): number[] {
  return readme.split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells[1] === `\`${name}\``)
    .flatMap((cells) => cells.slice(2).map(readAmount).filter((amount) => amount !== undefined));
}

/** The doc comment of an option of the client, in one line. */
function docOf(name: string): string {
  const [, doc] = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s+${name}\\?:`).exec(options) ?? [];
  if (doc === undefined) throw new Error(`There is no doc comment of ${name}`);
  return doc.replace(/\s*\n\s*\* ?/g, " ");
}

for (const name of ["timeout", "retries", "maxResponseBytes"] as const) {
  Deno.test(`the default of ${name} is the same in the code, its doc comment and the README`, () => {
    const value = readNumber(name, undefined);
    const [, documented] = /@default \{([\d_]+)\}/.exec(docOf(name)) ?? [];
    expect(readAmount(documented ?? "")).toBe(value);
    const amounts = amountsInReadme(name);
    expect(amounts.length).toBeGreaterThan(0);
    expect(amounts).toEqual(amounts.map(() => value));
  });

  Deno.test(`the limits of ${name} are the same in the code and its doc comment`, async () => {
    const { message } = await failure(Error, () => readNumber(name, NaN));
    const [, min, max] = /from (\d+) to (\d+)$/.exec(message)!;
    const [, from, to] = /a whole number from (\d+)(?: to (\d[\d ]*\d))?\b/.exec(docOf(name))!;
    expect(from).toBe(min);
    if (to !== undefined) expect(to.replaceAll(" ", "")).toBe(max);
    else expect(Number(max)).toBe(Number.MAX_SAFE_INTEGER);
  });
}

Deno.test("the README names each method and each status that is retried", () => {
  const methods = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
  const statuses = Array.from({ length: 200 }, (_, index) => index + 400);
  const failure = { attempt: 1, retries: 1, isIdempotent: true };
  const repeated = statuses.filter((status) => retryDelay({ ...failure, status }, 0) !== undefined);
  for (const name of [...methods.filter(isIdempotent), ...repeated]) {
    expect(readme).toMatch(new RegExp(`\\b${name}\\b`));
  }
});
