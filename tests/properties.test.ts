// What holds for any input; a failure prints the seed that repeats it.
import { expect } from "@std/expect";
import fc from "fast-check";

import { createClient, type HttpError, ScamAddressError } from "../mod.ts";
import { baseUrl, checkKeyPath, isDeno, keyHeader, testWatched, undocumented } from "./client.ts";
import { shown } from "./failure.ts";
import { serve } from "./server.ts";

/** Any bytes of a body, those of JSON among them. */
const anyBody = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.jsonValue().map((value) => JSON.stringify(value).slice(0, -1)),
  fc.string({ unit: "binary" }),
  fc.uint8Array().map((bytes) => bytes.slice()),
);

const anyStatus = fc.integer({ min: 200, max: 599 });
const isEmpty = (status: number) => [204, 205, 304].includes(status);

/** Keys that can be sent in a header, with a part that occurs nowhere else by chance. */
const usableKey = fc.tuple(
  fc.stringMatching(/^[!-~]{0,20}$/),
  fc.integer({ min: 1e9, max: 1e10 }).map((number) => `Zq${number}`),
  fc.stringMatching(/^[ -~]{0,20}[!-~]$/),
).map((parts) => parts.join(""));

/** The outcome of a call: a value, or a documented error that does not show a part of a key. */
async function outcome(call: () => unknown, part?: string) {
  try {
    return { value: await call() };
  } catch (error) {
    expect(error instanceof ScamAddressError).toBe(true);
    if (part !== undefined) expect(shown(error)).not.toContain(part);
    return { error: error as ScamAddressError };
  }
}

/** The addresses that a call is sent to, and its error. */
async function addressesOf(baseUrl: string, endpoint: string) {
  const urls: string[] = [];
  const fetch = ({ url }: Request) => {
    urls.push(url);
    return Promise.resolve(new Response("[]"));
  };
  const options = { baseUrl, apiKey: "some-key", fetch };
  return { urls, ...await outcome(() => createClient(options).call("GET", endpoint)) };
}

/** Parses the JSON of a body; `undefined` when it is not JSON. */
function parse(body: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

testWatched("call() returns JSON or a documented error for any response", async (create) => {
  let next: { status: number; body: string | Uint8Array } = { status: 200, body: "" };
  await using server = await serve((_, response) => {
    response.writeHead(next.status);
    response.end(isEmpty(next.status) ? undefined : next.body);
  });
  const client = create({ baseUrl: server.url, apiKey: "some-key", retries: 0 });
  await fc.assert(
    fc.asyncProperty(anyStatus, anyBody, async (status, body) => {
      fc.pre(status !== 407 || isDeno); // Node's fetch does not return it
      next = { status, body };
      const { value, error } = await outcome(() => client.call("GET", undocumented));
      const json = isEmpty(status) || body.length === 0 ? undefined : parse(body);
      if (status === 304 || status >= 400) expect(error).toMatchObject({ code: "http", status });
      else if (status >= 300) expect(error).toMatchObject({ code: "redirect", status });
      else if (error) expect([error.code, json]).toEqual(["invalid_response", undefined]);
      else expect(value).toEqual(json);
      if (status >= 400 && json !== undefined) expect((error as HttpError).body).toEqual(json);
    }),
  );
});

/** A key as it is, and as URLs, forms and JSON write it. */
function echoOf(key: string): string {
  const encoded = `${encodeURIComponent(key)}&${new URLSearchParams({ key })}`;
  const inLowerCase = encoded.replace(/%../g, (hex) => hex.toLowerCase());
  return `${key}&${encoded}&${inLowerCase}&${JSON.stringify(key)}`;
}

Deno.test("any key is sent unchanged, or refused, without being quoted", async () => {
  const part = "Zq0123456789";
  const anyKey = fc.oneof(
    usableKey.map((key) => `${part}${key}`),
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
      const called = await outcome(() => client.call("GET", undocumented), part);
      const checked = await outcome(() => client.checkKey(key), part);
      expect(called.error!.code).toBe(checked.error!.code);
      expect(sent).toEqual(called.error!.code === "configuration" ? [] : [key, key]);
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
      const base = `${baseUrl}a/b/`;
      const { urls, error } = await addressesOf(base, endpoint);
      if (error) expect([error.code, urls]).toEqual(["configuration", []]);
      else expect(urls[0]!.startsWith(base)).toBe(true);
    }),
  );
});
