import { expect } from "@std/expect";
import fc from "fast-check";

import { reasonOf, redactor } from "../src/transport/redact.ts";
import { expectLinear } from "./growth.ts";
import { seeded } from "./random.ts";

/** The forms that are promised, each in its own words. */
function formsOf(key: string): string[] {
  const encoded = [encodeURIComponent(key), `${new URLSearchParams({ "": key })}`.slice(1)];
  const lower = encoded.map((text) => text.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  return [key, JSON.stringify(key).slice(1, -1), ...encoded, ...lower];
}

/** Does what a redactor does, in time that grows with the product of text and keys. */
function redactSlowly(keys: string[], text: string): string {
  const forms = keys.flatMap(formsOf);
  let result = "";
  let end = -1; // of what is replaced
  for (const [start, character] of text.split("").entries()) {
    const found = forms.filter((form) => text.startsWith(form, start));
    if (found.length > 0 && start > end) result += "[redacted]";
    end = Math.max(end, ...found.map((form) => start + form.length));
    if (start >= end) result += character;
  }
  return result;
}

Deno.test("redactor() replaces a key in each form that is promised", () => {
  for (const key of ["a-key", 'J/ö"k\\l +%~\u00a0ÿ', "emoji-😀-\u20ac", "]", "$&"]) {
    const redact = redactor(key);
    for (const form of formsOf(key)) {
      expect([form, redact(`→${form}←${form}${form}`)])
        .toEqual([form, "→[redacted]←[redacted]"]);
    }
  }
  const half = ["%20%EF%BF%BD", "%20%ef%bf%bd", "+%EF%BF%BD", " \\ud800", " \ud800"];
  expect(redactor("half \ud800")(half.map((end) => `half${end}`).join()))
    .toBe(Array(5).fill("[redacted]").join());
});

Deno.test("redactor() replaces what a simple search finds, also where keys overlap", () => {
  const character = fc.constantFrom(...'aab%25cE/\\"é+ ');
  const key = fc.array(character, { minLength: 1, maxLength: 6 }).map((list) => list.join(""));
  const texts = fc.array(key, { minLength: 1, maxLength: 3 }).chain((keys) => {
    const echo = fc.constantFrom(...keys.flatMap(formsOf));
    const part = fc.tuple(echo, fc.nat(9), fc.nat(3))
      .map(([form, end, start]) => form.slice(start > 1 ? 1 : 0, end > 5 ? undefined : end));
    const text = fc.array(fc.oneof(echo, part, character)).map((list) => list.join(""));
    return fc.tuple(fc.constant(keys), text);
  });
  fc.assert(
    fc.property(texts, ([keys, text]) => {
      expect(redactor(...keys)(text)).toBe(redactSlowly(keys, text));
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("redactor() replaces several keys in one pass, the longest where one is part of another", () => {
  const redact = redactor("red", undefined, "redact", "", null, 7, {}, "red");
  expect(redact("[red] redacted 7")).toBe("[[redacted]] [redacted]ed 7");
  expect(redactor("abc", "bcd", "b")("abcd abc b")).toBe("[redacted] [redacted] [redacted]");
  expect(redactor("aa")("aaaaa a")).toBe("[redacted] a");
});

Deno.test("redactor() changes nothing without keys, and nothing but keys", () => {
  for (const redact of [redactor(), redactor(undefined, "", 5), redactor("key")]) {
    for (const text of ["", "\n", "5", "$^", "[redacted]", "ke", "Key", "k%65y"]) {
      expect(redact(text)).toBe(text);
    }
  }
});

// Time

const random = seeded(1);
const letters = Array.from({ length: 2 ** 16 }, () => String.fromCharCode(97 + random() * 26))
  .join("");

/** Keys that take long to look for. */
const worstKeys: [string, (length: number) => string][] = [
  ["one character many times", (length) => "a".repeat(length)],
  ["one character many times, and another", (length) => `${"a".repeat(length)}b`],
  ["a period", (length) => `${"ab".repeat(length / 2)}x`],
  ["a period of periods", (length) => `${"aab".repeat(4)}a`.repeat(length / 13)],
  ["backslashes", (length) => "\\".repeat(length)],
  ["what looks encoded", (length) => "%25".repeat(length / 3)],
  ["what is encoded longer", (length) => "é".repeat(length)],
  ["forms that begin alike", (length) => `${"a".repeat(length)}é\\ `],
  ["letters", (length) => letters.slice(0, length)],
];

for (const [kind, keyOf] of worstKeys) {
  Deno.test(`redactor() takes time that is linear when the key is ${kind}`, async () => {
    for (const share of [0.02, 0.9]) { // of the text: the key has room in it often, or once
      await expectLinear((size) => {
        const key = keyOf(Math.floor(size * share));
        const redact = redactor(key);
        for (const form of formsOf(key).slice(0, 3)) {
          const almost = form.slice(0, -1);
          redact(almost.repeat(size / almost.length + 1).slice(0, size));
        }
      }, 2 ** 11);
    }
  });
}

Deno.test("redactor() takes time that is linear when a long key meets many short texts", async () => {
  await expectLinear((size) => {
    const redact = redactor(letters.slice(0, size));
    for (let index = 0; index < size; index++) redact("short");
  }, 2 ** 11);
});

// Reasons

Deno.test("reasonOf() has the message of the innermost cause that has one", () => {
  const circular: { cause?: unknown } = {};
  circular.cause = circular;
  const deep = Array.from({ length: 9 }).reduce<Error>(
    (cause, _, index) => new Error(`${index}`, { cause }),
    new Error("innermost"),
  );
  const shapes: [unknown, string][] = [
    [new DOMException(" boom\n", "NetworkError"), "boom"],
    [{ message: "boom", cause: {}, errors: [] }, "boom"],
    ["boom", "boom"],
    ...[undefined, null, "", 0, {}, Object.create(null), new Error(), { message: {} }, 7]
      .map((thrown): [unknown, string] => [thrown, "unknown reason"]),
    [circular, "unknown reason"],
    [Object.assign(new Error(""), { code: "ENOTFOUND" }), "ENOTFOUND"],
    [new TypeError("fetch failed", { cause: new Error("expired") }), "expired"],
    [new TypeError("fetch failed", { cause: new Error() }), "fetch failed"],
    [new TypeError("", { cause: new AggregateError([new Error("refused")]) }), "refused"],
    [deep, "4"], // of a long chain, the innermost that is reached
  ];
  for (const [thrown, message] of shapes) {
    const reason = reasonOf(thrown, redactor());
    expect([reason instanceof Error, reason.message, reason.cause])
      .toEqual([true, message, undefined]);
  }
});

Deno.test("reasonOf() has the code that belongs to the message", () => {
  const coded = (code: unknown, cause?: unknown) =>
    Object.assign(new Error("boom", { cause }), { code });
  const missing = Object.assign(new Error("Requires net access"), { name: "NotCapable" });
  const codes: [unknown, string | undefined][] = [
    [coded("OUTER", coded("INNER")), "INNER"],
    [coded("OUTER", new Error("boom")), undefined],
    [coded(7), undefined],
    [new TypeError("fetch failed", { cause: missing }), "NotCapable"],
    [undefined, undefined],
  ];
  for (const [thrown, code] of codes) {
    const reason: Error & { code?: unknown } = reasonOf(thrown, redactor());
    expect(["code" in reason, reason.code]).toEqual([code !== undefined, code]);
  }
});

Deno.test("reasonOf() shows no key, and cuts a long message", () => {
  const thrown = Object.assign(new Error(`Bad the-key ${"x".repeat(2_000)}`), {
    code: "no-the-key",
    request: { headers: "the-key" },
  });
  const reason = reasonOf(thrown, redactor("the-key"));
  expect(reason.message).toBe(`Bad [redacted] ${"x".repeat(985)}`);
  expect({ ...reason }).toEqual({ code: "no-[redacted]" });
});
