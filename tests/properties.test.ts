import { expect } from "@std/expect";
import fc from "fast-check";

import { type ClientOptions, createClient, HttpError, ScamAddressError } from "../mod.ts";
import { baseUrl, isDeno, keyHeader } from "./client.ts";
import { shown } from "./outcome.ts";
import { serve } from "./server.ts";

const codes = ["configuration", "http", "invalid_response", "network", "redirect", "timeout"];

/** Any JSON, near misses of the service's responses among them. */
const anyJson = fc.oneof(
  fc.jsonValue(),
  fc.record({
    apiKeyValid: fc.oneof(fc.boolean(), fc.jsonValue()),
    data: fc.oneof(
      fc.record({ credits: fc.oneof(fc.integer(), fc.double(), fc.jsonValue()) }),
      fc.jsonValue(),
    ),
  }, { requiredKeys: [] }),
);

/** Any bytes of a body, those of JSON among them. */
const anyBody = fc.oneof(
  anyJson.map((value) => JSON.stringify(value)),
  anyJson.map((value) => JSON.stringify(value).slice(0, -1)),
  fc.string({ unit: "binary" }),
  fc.uint8Array().map((bytes) => bytes.slice()),
);

const anyStatus = fc.integer({ min: 200, max: 599 });

/** Keys that can be sent in a header, long enough not to occur elsewhere by chance. */
const usableKey = fc.tuple(
  fc.stringMatching(/^[!-~]{12}$/),
  fc.stringMatching(/^[ -~\xa0-\xff]{0,20}[!-~]$/),
).map((parts) => parts.join(""));

/** The outcome of a call: a value, or a documented error that shows no key. */
async function outcome(call: () => unknown, key?: string) {
  try {
    return { value: await call() };
  } catch (error) {
    expect(error instanceof ScamAddressError).toBe(true);
    expect(codes).toContain((error as ScamAddressError).code);
    if (key !== undefined) {
      const text = shown(error);
      for (const form of [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)]) {
        expect(text.includes(form)).toBe(false);
      }
    }
    return { error: error as ScamAddressError };
  }
}

/** Whether a value is a response to `checkKey` as the service's document describes it. */
function isKeyStatus(value: unknown): boolean {
  const { apiKeyValid, data } = Object(value);
  return apiKeyValid === false || (apiKeyValid === true && Number.isInteger(data?.credits));
}

/** Parses the JSON of a body; `undefined` when it is not JSON. */
function parse(body: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

const nullBody = (status: number) => [204, 205, 304].includes(status);

function options(fetch: () => Response, apiKey: string): ClientOptions {
  return {
    baseUrl,
    apiKey,
    fetch: () => Promise.resolve(fetch()),
    retries: 0,
  };
}

Deno.test("checkKey() resolves to a key's status or rejects with a documented error for any response", async () => {
  let next: { status: number; body: string | Uint8Array } = { status: 200, body: "" };
  await using server = await serve((_, response) => {
    response.writeHead(next.status);
    response.end(nullBody(next.status) ? undefined : next.body);
  });
  await fc.assert(
    fc.asyncProperty(anyStatus, anyBody, usableKey, async (status, body, apiKey) => {
      fc.pre(status !== 407 || isDeno); // Node's fetch does not return it
      next = { status, body };
      const client = createClient({ baseUrl: server.url, apiKey, retries: 0 });
      const { value, error } = await outcome(() => client.checkKey(), apiKey);
      if (status >= 400) expect(error).toMatchObject({ code: "http", status });
      else if (status >= 300) expect(error).toMatchObject({ code: "redirect", status });
      else if (error) expect(error).toMatchObject({ code: "invalid_response", status });
      else expect(isKeyStatus(value)).toBe(true);
      expect(error === undefined).toBe(
        status < 300 && !nullBody(status) && isKeyStatus(parse(body)),
      );
    }),
  );
});

Deno.test("call() returns any JSON, and keeps the JSON of errors", async () => {
  await fc.assert(
    fc.asyncProperty(anyStatus, fc.jsonValue(), usableKey, async (status, document, key) => {
      fc.pre(!nullBody(status) && (status < 300 || status >= 400));
      const json = JSON.stringify(document);
      const fetch = () => new Response(json, { status });
      const client = createClient(options(fetch, key));
      const { value, error } = await outcome(() => client.call("GET", "report"), key);
      expect(error ? (error as HttpError).body : value).toEqual(JSON.parse(json));
    }),
  );
});

Deno.test("errors never show a key, wherever the service echoes it", async () => {
  const echo = fc.record({
    status: anyStatus,
    wrap: fc.constantFrom(
      (key: string) => key,
      (key: string) => JSON.stringify({ error: key, [key]: [key] }),
      (key: string) => `{"error":${JSON.stringify(key)}`,
      (key: string) => `<a href="/?key=${encodeURIComponent(key)}">${key}</a>`,
      (key: string) => JSON.stringify({ apiKeyValid: true, [key]: 1, data: { credits: key } }),
    ),
    header: fc.constantFrom("location", "www-authenticate", "set-cookie", "x-echo"),
    encoded: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(echo, usableKey, async ({ status, wrap, header, encoded }, key) => {
      const headers = { [header]: `a=${encoded ? encodeURIComponent(key) : key}` };
      const body = nullBody(status) ? null : wrap(key);
      const client = createClient(options(() => new Response(body, { status, headers }), key));
      await outcome(() => client.checkKey(), key);
      const { value, error } = await outcome(() => client.call("POST", "report"), key);
      if (error instanceof HttpError) expect([...error.headers.keys()]).toContain(header);
      else if (!error && value !== undefined) expect(value).toEqual(JSON.parse(wrap(key)));
    }),
  );
});

Deno.test("createClient() takes a base URL or throws a ConfigurationError for any string", async () => {
  const anyUrl = fc.oneof(
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.webUrl({ validSchemes: ["https"] }),
    fc.string({ unit: "binary" }),
    fc.tuple(fc.constantFrom("https://", "https:", "http://localhost", "//"), fc.string())
      .map((parts) => parts.join("")),
    fc.anything(),
  );
  await fc.assert(
    fc.asyncProperty(anyUrl, async (baseUrl) => {
      const urls: string[] = [];
      const fetch = ({ url }: Request) => {
        urls.push(url);
        return Promise.resolve(new Response("[]"));
      };
      const { error } = await outcome(() =>
        createClient({ baseUrl: baseUrl as string, apiKey: "key", fetch }).call("GET", "report")
      );
      if (error) return expect([error.code, urls]).toEqual(["configuration", []]);
      const base = new URL(baseUrl as string);
      const slash = base.href.endsWith("/") ? "" : "/";
      expect(urls).toEqual([`${base.href}${slash}report`]);
    }),
  );
});

Deno.test("any key is sent unchanged or refused without being quoted", async () => {
  const part = "0123456789ab";
  const anyKey = fc.oneof(
    usableKey.map((key) => `${part}${key}`),
    fc.string({ unit: "binary" }).map((text) => `${part}${text}`),
    fc.string({ unit: "grapheme" }).map((text) => `${text}${part}`),
  );
  await fc.assert(
    fc.asyncProperty(anyKey, async (key) => {
      const sent: (string | null)[] = [];
      const fetch = async (request: Request) => {
        sent.push(request.headers.get(keyHeader));
        if (request.url.endsWith("checkKey")) sent.push((await request.json()).apiKey);
        return new Response(`{"apiKeyValid":false}`);
      };
      const client = createClient({ baseUrl, apiKey: () => key, fetch });
      const called = await outcome(() => client.call("GET", "report"), part);
      const checked = await outcome(() => client.checkKey(key), part);
      expect(called.error?.code).toBe(checked.error?.code);
      if (called.error) expect([called.error.code, sent]).toEqual(["configuration", []]);
      else expect(sent).toEqual([key, null, key]);
    }),
  );
});

Deno.test("call() stays below the base URL or throws a ConfigurationError for any endpoint", async () => {
  const anyEndpoint = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.webPath(),
    fc.array(
      fc.constantFrom("..", ".", "/", "\\", "%2e", "%2F", "a", ":", "@", "?", "#", "\t", "%"),
    )
      .map((parts) => parts.join("")),
    fc.webUrl(),
  );
  await fc.assert(
    fc.asyncProperty(anyEndpoint, async (endpoint) => {
      const urls: string[] = [];
      const fetch = ({ url }: Request) => {
        urls.push(url);
        return Promise.resolve(new Response("[]"));
      };
      const baseUrl = "https://service.example/a/b/";
      const client = createClient({ baseUrl, apiKey: "key", fetch });
      const { error } = await outcome(() => client.call("GET", endpoint));
      if (error) expect([error.code, urls]).toEqual(["configuration", []]);
      else expect(urls[0]!.startsWith(baseUrl)).toBe(true);
    }),
  );
});
