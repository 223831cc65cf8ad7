// The defaults of the client's options: what it does, what its doc comments say, and README.
import { expect } from "@std/expect";
import { join } from "node:path";
import { createClient, InvalidResponseError } from "../../mod.ts";
import { root } from "../../scripts/support/files.ts";
import { apiKey, baseUrl, undocumented } from "../support/client.ts";

const [api, readme] = await Promise.all(
  ["src/api.ts", "README.md"].map((file) => Deno.readTextFile(join(root, file))),
);

/** The number after `@default` in the doc comment of an option. */
function documented(name: string): number {
  const pattern = RegExp(`@default \\{([\\d_]+)\\}\\s+\\*/\\s+${name}\\?:`);
  const [, number = ""] = pattern.exec(api!) ?? [];
  return Number(number.replaceAll("_", ""));
}

/** The number beside the name of an option in README's table, such as `30 000 ms` or `10 MiB`. */
function inReadme(name: string): number {
  const cells = readme!.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const [, , amount = ""] = cells.find(([, option]) => option === `\`${name}\``) ?? [];
  const factor = amount.endsWith("MiB") ? 2 ** 20 : 1;
  return Number(amount.replaceAll(/\D/g, "")) * factor;
}

Deno.test("the default of timeout is as documented", async () => {
  const timeout = documented("timeout");
  expect(inReadme("timeout")).toBe(timeout);
  const { setTimeout } = globalThis;
  const delays: unknown[] = [];
  globalThis.setTimeout = ((...args: Parameters<typeof setTimeout>) => {
    delays.push(args[1]);
    return setTimeout(...args);
  }) as typeof setTimeout;
  try {
    const fetch = () => Promise.resolve(Response.json(1));
    await createClient({ baseUrl, apiKey, fetch }).call("GET", undocumented);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  expect(delays).toEqual([timeout]);
});

Deno.test("the default of retries is as documented", async () => {
  const retries = documented("retries");
  expect(inReadme("retries")).toBe(retries);
  let count = 0;
  const fetch = () => {
    count++;
    return Promise.resolve(new Response("", { status: 503, headers: { "retry-after": "0" } }));
  };
  await expect(createClient({ baseUrl, apiKey, fetch }).call("GET", undocumented)).rejects
    .toThrow();
  expect(count).toBe(retries + 1);
});

Deno.test("the default of maxResponseBytes is as documented", async () => {
  const maxResponseBytes = documented("maxResponseBytes");
  expect(inReadme("maxResponseBytes")).toBe(maxResponseBytes);
  let size = maxResponseBytes;
  const fetch = () => Promise.resolve(new Response("1".padEnd(size)));
  const client = createClient({ baseUrl, apiKey, fetch });
  expect(await client.call("GET", undocumented)).toBe(1);
  size++;
  await expect(client.call("GET", undocumented)).rejects.toThrow(InvalidResponseError);
});
