// What holds for any key and any endpoint; a failure prints the seed that repeats it.
import { expect } from "@std/expect";
import fc from "fast-check";

import { ConfigurationError, createClient, ScamAddressError } from "../mod.ts";
import { baseUrl, checkKeyPath, keyHeader, undocumented } from "./client.ts";
import { failures, shown } from "./failure.ts";

/** A key as it is, and as URLs, forms and JSON write it. */
function echoOf(key: string): string {
  const encoded = `${encodeURIComponent(key)}&${new URLSearchParams({ key })}`;
  const inLowerCase = encoded.replace(/%../g, (hex) => hex.toLowerCase());
  return `${key}&${encoded}&${inLowerCase}&${JSON.stringify(key)}`;
}

Deno.test("any key is sent unchanged, or refused, without being quoted", async () => {
  const part = "Zq0123456789"; // which occurs nowhere else by chance
  const anyKey = fc.oneof(
    fc.stringMatching(/^[ -~]{0,40}[!-~]$/).map((text) => `${part}${text}`),
    fc.string({ unit: "binary" }).map((text) => `${part}${text}`),
    fc.string({ unit: "grapheme" }).map((text) => `${text}${part}`),
  );
  await fc.assert(
    fc.asyncProperty(anyKey, async (key) => {
      const sent: unknown[] = [];
      const fetch = async (request: Request) => {
        const isCheck = request.url.endsWith(checkKeyPath);
        sent.push(isCheck ? (await request.json()).apiKey : request.headers.get(keyHeader));
        return new Response(echoOf(key), { status: 400, headers: { "x-echo": echoOf(key) } });
      };
      const client = createClient({ baseUrl, apiKey: () => key, fetch });
      const calls = [client.call("GET", undocumented), client.checkKey(key)];
      const errors = await failures(ScamAddressError, calls);
      for (const error of errors) expect(shown(error)).not.toContain(part);
      const [called, checked] = errors.map(({ code }) => code);
      expect(called).toBe(checked);
      expect(sent).toEqual(called === "configuration" ? [] : [key, key]);
    }),
  );
});

Deno.test("call() stays below the base URL or throws a ConfigurationError for any endpoint", async () => {
  const parts = ["..", ".", "/", "\\", "%2e", "%2F", "a", ":", "@", "?", "#", "\t", "%"];
  const anyEndpoint = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.webPath(),
    fc.array(fc.constantFrom(...parts)).map((parts) => parts.join("")),
    fc.webUrl(),
  );
  await fc.assert(
    fc.asyncProperty(anyEndpoint, async (endpoint) => {
      const urls: string[] = [];
      const fetch = ({ url }: Request) => {
        urls.push(url);
        return Promise.resolve(new Response("[]"));
      };
      const base = `${baseUrl}a/b/`;
      const client = createClient({ baseUrl: base, apiKey: "some-key", fetch });
      const error = await client.call("GET", endpoint).then(() => undefined, (error) => error);
      if (error) expect([error instanceof ConfigurationError, urls]).toEqual([true, []]);
      else expect(urls[0]!.startsWith(base)).toBe(true);
    }),
  );
});
