// Our errors do not show a key of 8 characters or more that comes back as it is.
import { expect } from "@std/expect";
import { inspect } from "node:util";
import { z } from "zod";

import {
  HttpError,
  InvalidResponseError,
  NetworkError,
  type RetryEvent,
  ScamAddressError,
} from "../mod.ts";
import {
  baseUrl,
  checkKeyPath,
  clientAt,
  clientOf,
  schemaOf,
  undocumented,
} from "./support/client.ts";
import { MARK } from "./support/internals.ts";
import { rejection, rejections, shown } from "./support/rejection.ts";
import { serve } from "./support/server.ts";
import { replaceWaiting } from "./support/waiting.ts";

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
  errorClass: abstract new (...args: never[]) => T,
  call: Promise<unknown>,
) {
  const error = await rejection(errorClass, call);
  expectNoKey(error);
  return error;
}

/** A client that gets one response to everything. */
const clientGetting = (body: BodyInit | null, init?: ResponseInit, key = apiKey) =>
  clientOf(() => new Response(body, init), { apiKey: key, retries: 0 });

Deno.test("errors show no key that the service sends back as it is", async () => {
  let body = "";
  await using server = await serve(({ headers }, response) => {
    response.statusCode = Number(headers["x-status"]);
    response.setHeader("location", `https://other.example/?key=${apiKey}`);
    response.setHeader("x-echo", [`a=${apiKey}`, `b=${apiKey}`]);
    response.end(body);
  });
  const bodies: [string, unknown][] = [
    [`<h1>Bad ${apiKey}!`, `<h1>Bad ${MARK}!`],
    [`{"error":${JSON.stringify(apiKey)}`, `{"error":"${MARK}"`],
    [`Bad ${apiKey}!${"x".repeat(2 ** 16)}`, expect.stringContaining(`Bad ${MARK}!xx`)],
    [
      // PHP writes slashes like this, and an error keeps a part that is not JSON.
      JSON.stringify({ error: apiKey }).replaceAll("/", "\\/").slice(0, -1),
      `{"error":"${MARK}"`,
    ],
    [JSON.stringify({ [apiKey]: [`Bad ${apiKey}!`] }), { [MARK]: [`Bad ${MARK}!`] }],
    [
      JSON.stringify({ error: apiKey }).replaceAll("/", "\\/").replaceAll("&", "\\u0026"),
      { error: MARK },
    ],
  ];
  using _waiting = replaceWaiting();
  const events: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void events.push(event);
  const client = clientAt(server, { apiKey: () => apiKey, retries: 1, onRetry });
  const call = (status: number) => {
    const headers = { "x-status": `${status}` };
    return client.call("GET", undocumented, { headers, schema: z.never() });
  };
  for (const [text, expected] of bodies) {
    body = text;
    const errors = [
      await keylessFailure(HttpError, call(401)),
      await keylessFailure(HttpError, call(503)),
      await keylessFailure(InvalidResponseError, call(200)),
    ];
    for (const { response } of errors) {
      expect(response.body).toEqual(expected);
      expect(response.headers.get("x-echo")).toBe(`a=${MARK}, b=${MARK}`);
    }
  }
  const { response } = await keylessFailure(HttpError, call(307));
  expect(response.headers.get("location")).toBe(`https://other.example/?key=${MARK}`);
  expect(events.length).toBe(bodies.length);
  expectNoKey(events);
});

Deno.test("errors show neither the client's key nor one in the field apiKey of a body", async () => {
  const checked = `${apiKey} of a visitor`; // It contains the client's.
  const text = JSON.stringify({ error: `${checked} is wrong` });
  const client = clientGetting(text, { status: 400 });
  const body = { apiKey: checked };
  const calls = [
    client.checkKey(checked),
    client.call("POST", checkKeyPath, { body }),
    client.call("PUT", undocumented, { body }),
  ];
  for (const error of await rejections(HttpError, calls)) {
    expect(error.response.body).toEqual({ error: `${MARK} is wrong` });
    expect(shown(error)).not.toContain(checked);
    expectNoKey(error);
  }
  const { error } = await client.POST(checkKeyPath, { body });
  expect(error).toEqual(JSON.parse(text)); // It is the response, and no error of ours.
});

Deno.test("InvalidResponseError shows no key in the message and the path of a schema's issue", async () => {
  const schema = schemaOf((value) => {
    const key = value as string;
    return { issues: [{ message: `Bad ${key}` }, { message: "Bad", path: ["a", key, { key }] }] };
  });
  const call = clientGetting(JSON.stringify(apiKey)).call("GET", undocumented, { schema });
  const { issues, response } = await keylessFailure(InvalidResponseError, call);
  expect(issues).toEqual([
    { path: "", rule: "schema", message: `Bad ${MARK}` },
    { path: `/a/${MARK}/${MARK}`, rule: "schema", message: "Bad" },
  ]);
  expect(response.body).toBe(MARK);
});

Deno.test("errors show no part of a key that contains another, nor the client's where it is not sent", async () => {
  const cases: [checked: string, own: string][] = [
    ["a-visitor-2", "a-visitor"],
    ["a-visitor", "a-visitor-2"],
  ];
  for (const [checked, own] of cases) {
    const call = clientGetting(`Bad ${checked} and ${own}!`, { status: 400 }, own).checkKey(
      checked,
    );
    expect((await rejection(HttpError, call)).response.body).toBe(`Bad ${MARK} and ${MARK}!`);
  }
});

Deno.test("errors show no key in the address or in Retry-After", async () => {
  const key = "1234567890";
  const call = clientGetting(null, { status: 503, headers: { "retry-after": key } }, key)
    .call("GET", `keys/${key}`);
  const error = await rejection(HttpError, call);
  expect(error.message).toContain(`${baseUrl}keys/${MARK}"`);
  expect(shown(error)).not.toContain(key);
});

Deno.test("a key of fewer than 8 characters garbles nothing", async () => {
  const text = '{"error":"There were redirects"}';
  const call = clientGetting(text, { status: 400 }, "e").call("GET", undocumented);
  expect((await rejection(HttpError, call)).response.body).toEqual(JSON.parse(text));
});

Deno.test("NetworkError keeps the stack of the reason, without the key and the query", async () => {
  const url = `${baseUrl}${undocumented}`;
  const thrown = new TypeError(`${apiKey} at ${url}?address=s3cret: refused`);
  Object.assign(thrown, { code: `E-${apiKey}`, request: apiKey });
  const client = clientOf(() => Promise.reject(thrown), { apiKey, retries: 0 });
  const call = client.call("GET", undocumented, { query: { address: "s3cret" } });
  const error = await keylessFailure(NetworkError, call);
  const cause = error.cause as Error & { code: string };
  expect(cause.message).toBe(`${MARK} at ${url}: refused`);
  expect(cause.stack).toMatch(/^TypeError: .* at .*: refused\n.*secrets\.test/s);
  expect(cause.code).toBe(`E-${MARK}`);
  expect(shown(error)).not.toContain("s3cret");
});

// Random keys

/** Returns random numbers from 0 to below 1, the same ones for a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  return () => {
    let bits = seed = (seed + 0x6d2b79f5) | 0;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

const alphabets = ["0123456789", '"\\/', '{}[]:,"\\1 ', "aB3-_./~+=&", "\\u0123456"];

/** Bodies that have a key as it is, or escaped in JSON. */
const bodiesOf = (key: string) => {
  const json = JSON.stringify(key);
  const escaped = key.replace(/[^]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`);
  return [
    `Bad ${key}!`,
    json,
    `{"error":${json}`,
    `{"error":"${escaped}","n":17,"again":[{"a":${json}}]}`,
    `${"[".repeat(600)}${json}${"]".repeat(600)}`,
  ];
};

Deno.test("errors show no key, whatever the key and the response", async () => {
  const seed = 15; // Any other must do, too.
  const random = randomNumbers(seed);
  const pick = <T>(list: ArrayLike<T>) => list[Math.floor(random() * list.length)]!;
  const randomKey = () => {
    const alphabet = pick(alphabets);
    const inner = Array.from({ length: 6 + random() * 16 }, () => pick(alphabet)).join("");
    return `k${inner}k`; // without spaces at its ends
  };
  const schema = schemaOf((value) => ({ issues: [{ message: `Bad ${JSON.stringify(value)}` }] }));
  for (let round = 0; round < 1_000; round++) {
    const [key, own] = [randomKey(), randomKey()];
    const body = pick(bodiesOf(pick([key, own])));
    const status = pick([0, 200, 307, 400, 503]);
    const respond = () => {
      const headers = { "x-echo": `${own}, ${key}`, location: `/${key}` };
      if (status) return new Response(body, { status, headers });
      throw Object.assign(new Error(`No ${body}`), { code: key });
    };
    const client = clientOf(respond, { apiKey: own, retries: 0 });
    const call = pick([
      () => client.checkKey(key),
      () => client.call("PUT", "a", { body: { apiKey: key }, schema }),
    ]);
    const error = await rejection(ScamAddressError, call());
    const texts = [error.message, error.stack, error.cause, error.toJSON()];
    const isShown = texts.some((text) => [own, key].some((key) => shows(text, key)));
    expect({ seed, round, key, own, body, status, isShown })
      .toEqual({ seed, round, key, own, body, status, isShown: false });
  }
});

/** Tells whether a text has a key, or an object in one of its values. */
function shows(value: unknown, key: string): boolean {
  if (value instanceof Headers) return shows([...value], key);
  if (typeof value !== "object" || value === null) return String(value).includes(key);
  return Reflect.ownKeys(value).some((name) => shows(Reflect.get(value, name), key));
}
