// No error shows the key.
import { expect } from "@std/expect";
import { inspect } from "node:util";
import { z } from "zod";

import {
  type ClientOptions,
  createClient,
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  type RetryEvent,
} from "../mod.ts";
import { baseUrl, checkKeyPath, testBothWays, undocumented } from "./support/client.ts";
import { replaceWaiting } from "./support/waiting.ts";
import { rejection, rejections, shown } from "./support/rejection.ts";
import { type AnyPath, serve } from "./support/server.ts";

/** A key with the characters that URLs, forms, JSON and regular expressions change. */
const apiKey = `k3y-"of"-\\the/+client ~%$&<1>`;

/** Asserts that logging a value shows no key. */
function expectNoKey(value: unknown): void {
  const text = shown(value);
  const forms = [apiKey, JSON.stringify(apiKey).slice(1, -1), inspect(apiKey).slice(1, -1)];
  expect(forms.filter((form) => text.includes(form))).toEqual([]);
}

/** Returns the error that a call fails with, which must be of the class and show no key. */
async function keylessFailure<T>(
  errorClass: Parameters<typeof rejection<T>>[0],
  call: Promise<unknown>,
): Promise<T> {
  const error = await rejection(errorClass, call);
  expectNoKey(error);
  return error;
}

/** A client without retries. */
function clientOf(options: Partial<ClientOptions>) {
  return createClient<AnyPath>({ baseUrl, apiKey, retries: 0, ...options });
}

/** A client that gets one response to everything. */
function clientGetting(body: BodyInit | null, init?: ResponseInit, key = apiKey) {
  return clientOf({ apiKey: key, fetch: () => Promise.resolve(new Response(body, init)) });
}

testBothWays("errors show no key that the service sends back as it is", async (create) => {
  let body = "";
  await using server = await serve(({ headers }, response) => {
    response.statusCode = Number(headers["x-status"]);
    response.setHeader("location", `https://other.example/?key=${apiKey}`);
    response.setHeader("x-echo", [`a=${apiKey}`, `b=${apiKey}`]);
    response.end(body);
  });
  const events: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void events.push(event);
  const options = { baseUrl: server.url, apiKey: () => apiKey, retries: 1, onRetry };
  using _waiting = replaceWaiting();
  const client = create(options);
  const call = (status: number) => {
    const headers = { "x-status": `${status}` };
    return client.call("GET", undocumented, { headers, schema: z.never() });
  };
  const bodies: [string, unknown][] = [
    [`<h1>Bad ${apiKey}!`, "<h1>Bad [redacted]!"],
    [`{"error":"${apiKey}`, '{"error":"[redacted]'], // cut off
    [`Bad ${apiKey}!${"x".repeat(2 ** 16)}`, expect.stringMatching(/^Bad \[redacted\]!x+$/)],
    [JSON.stringify({ [apiKey]: [`Bad ${apiKey}!`], code: 7 }), {
      "[redacted]": ["Bad [redacted]!"],
      code: 7,
    }],
  ];
  for (const [text, expected] of bodies) {
    body = text;
    for (const status of [401, 503]) {
      const error = await keylessFailure(HttpError, call(status));
      expect(error.response.body).toEqual(expected);
      expect(error.response.headers.get("x-echo")).toBe("a=[redacted], b=[redacted]");
    }
    const error = await keylessFailure(InvalidResponseError, call(200));
    expect(error.response.body).toEqual(expected);
    expect(error.response.headers.get("x-echo")).toBe("a=[redacted], b=[redacted]");
  }
  const { location, message } = await keylessFailure(RedirectError, call(307));
  expect(location).toBe("https://other.example/?key=[redacted]");
  expect(message).toContain('a redirect (307) to "https://other.example/", which');
  expect(events.length).toBe(4);
  expectNoKey(events);
});

Deno.test("errors have no header whose name contains the key", async () => {
  const client = clientGetting(
    null,
    { status: 400, headers: { "x-some-key-1": "a", "x-id": "b" } },
    "some-key-1",
  );
  const { response } = await rejection(HttpError, client.call("GET", undocumented));
  expect([...response.headers]).toEqual([["x-id", "b"]]);
});

Deno.test("checkKey() shows neither the key that it checks nor the client's own", async () => {
  const checked = "key-of-a-visitor";
  const body = JSON.stringify({ error: `${checked} is not ${apiKey}`, path: checked });
  const client = clientGetting(body, { status: 400 });
  const expected = { error: "[redacted] is not [redacted]", path: "[redacted]" };
  expect((await rejection(HttpError, client.checkKey(checked))).response.body).toEqual(expected);
  const { error } = await client.POST(checkKeyPath, { body: { apiKey: checked } });
  expect(error).toEqual(JSON.parse(body)); // which is the response itself, and no error of ours
  const failing = clientOf({ fetch: () => Promise.reject() });
  const call = failing.POST(checkKeyPath, { body: { apiKey: "\ud800".repeat(8) } });
  await rejection(NetworkError, call);
});

Deno.test("no error shows a key in the field apiKey of a body, whatever the operation", async () => {
  const checked = "key-of-a-visitor";
  const client = clientGetting(`<p>${checked}`);
  const body = { apiKey: checked };
  const calls = [
    client.call("POST", checkKeyPath, { body }),
    client.call("PUT", undocumented, { body }),
    client.POST(`/${undocumented}`, { body }),
  ];
  for (const error of await rejections(InvalidResponseError, calls)) {
    expect(error.response.body).toBe("<p>[redacted]");
    expect(shown(error)).not.toContain(checked);
  }
});

Deno.test("HttpError replaces a key in texts, and garbles nothing for a short one", async () => {
  const cases: [key: string, body: string, expected: unknown][] = [
    ["reddish!", "bad key reddish!", "bad key [redacted]"],
    ['""""""""', '{"a":1}', { a: 1 }],
    ["[redacted]", '["[redacted]"]', ["[redacted]"]],
    ["7654321", '{"code":7654321,"text":"e 7654321"}', { code: 7_654_321, text: "e 7654321" }],
    ["e", '{"error":"There were redirects"}', { error: "There were redirects" }],
  ];
  for (const [key, text, expected] of cases) {
    const headers = { "x-request-id": "request-e", "content-type": "text/plain; a=e" };
    const client = clientGetting(text, { status: 400, headers }, key);
    const calls = [client.call("GET", undocumented), client.checkKey(key)];
    for (const error of await rejections(HttpError, calls)) {
      expect(error.response.body).toEqual(expected);
      expect(Object.fromEntries(error.response.headers)).toEqual(headers);
    }
  }
});

Deno.test("HttpError has no retryAfter that is the key", async () => {
  const headers = { "retry-after": "1234567890" };
  const client = clientGetting(null, { status: 503, headers }, "1234567890");
  const error = await rejection(HttpError, client.call("GET", undocumented));
  expect(shown(error)).not.toContain("1234567890");
});

Deno.test("messages show no key that is part of the address", async () => {
  const call = clientGetting(null, { status: 400 }, "some-key").call("GET", "keys/some-key");
  expect((await rejection(HttpError, call)).message).toContain(
    `"GET ${baseUrl}keys/[redacted]" got `,
  );
});

/** The longest keys, with what almost matches them again and again. */
const longestKeys = ["\\", "%", "a", `${"a".repeat(500)}\\ ~${"a".repeat(3_593)}`]
  .map((part) => part.repeat(4_096 / part.length));

Deno.test("errors show no key even if it is long and 64 KiB almost match it", async () => {
  for (const key of longestKeys) {
    const almost = key.slice(1).repeat(17).slice(0, 2 ** 16 - 2 * key.length);
    const client = clientGetting(`${almost}!${key}`, { status: 400 }, key);
    const { response } = await rejection(HttpError, client.checkKey(key));
    expect(response.body).toMatch(/\[redacted\]$/);
    expect(response.body).not.toContain(key);
  }
});

Deno.test("InvalidResponseError shows no key in the message and the path of a schema's issue", async () => {
  const validate = (value: unknown) => {
    const key = value as string;
    return { issues: [{ message: `Bad ${key}` }, { message: "Bad", path: ["a", key, { key }] }] };
  };
  const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
  const call = clientGetting(JSON.stringify(apiKey)).call("GET", undocumented, { schema });
  const { issues, response } = await keylessFailure(InvalidResponseError, call);
  expect(issues).toEqual([
    { path: "", rule: "schema", message: "Bad [redacted]" },
    // also not as a JSON Pointer writes it
    { path: "/a/[redacted]/[redacted]", rule: "schema", message: "Bad" },
  ]);
  expect(response.body).toBe("[redacted]");
});
