// Our errors do not show a key of 8 characters or more that comes back as it is.
import { expect } from "@std/expect";
import { inspect } from "node:util";
import { z } from "zod";

import {
  HttpError,
  InvalidResponseError,
  NetworkError,
  RedirectError,
  type RetryEvent,
  ScamAddressError,
} from "../mod.ts";
import {
  baseUrl,
  checkKeyPath,
  clientAt,
  clientOf,
  replaceFetch,
  schemaOf,
  undocumented,
} from "./support/client.ts";
import { MARK, run } from "./support/internals.ts";
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
  const { location } = await keylessFailure(RedirectError, call(307));
  expect(location).toBe(`https://other.example/?key=${MARK}`);
  expect(events.length).toBe(bodies.length);
  expectNoKey(events);
});

Deno.test("messages show no key that joined white space has made", async () => {
  const key = "key with spaces";
  const client = clientGetting("Bad key\twith\nspaces", { status: 400 }, key);
  const { message } = await rejection(HttpError, client.call("GET", undocumented));
  expect(message).toContain("Bad [redacted]");
});

Deno.test("errors show neither the client's key nor one in the field apiKey of a body", async () => {
  const checked = `${apiKey} of a visitor`; // It contains the client's.
  const text = JSON.stringify({ error: `${checked} is not ${apiKey}` });
  const client = clientGetting(text, { status: 400 });
  const body = { apiKey: checked };
  const calls = [
    client.checkKey(checked),
    client.call("POST", checkKeyPath, { body }),
    client.call("PUT", undocumented, { body }),
  ];
  for (const error of await rejections(HttpError, calls)) {
    expect(error.response.body).toEqual({ error: `${MARK} is not ${MARK}` });
    expect(shown(error)).not.toContain(checked);
    expectNoKey(error);
  }
  const { error } = await client.POST(checkKeyPath, { body });
  expect(error).toEqual(JSON.parse(text)); // It is the response, and no error of ours.
});

Deno.test("checkKey() shows no part of a key, and a short one garbles nothing", async () => {
  const inMark = MARK.slice(1, -1);
  const cases: [key: string, body: string, expected: unknown, own?: string][] = [
    ["a-visitor-2", "bad key a-visitor-2", `bad key ${MARK}`, "a-visitor"],
    ["reddish!", "bad key reddish!", `bad key ${MARK}`, "short"],
    ['""""""""', '{"a":1}', { a: 1 }],
    [inMark, `bad key ${inMark}, as is r${inMark}`, "bad key ···, as is r···"],
    [`x[${inMark}`, `x[${inMark} xa-guest!`, "··· x···", "a-guest!"],
    ["17643060", '{"t":1764306000123,"n":1}', { t: `${MARK}00123`, n: 1 }],
    ['"error":', '{"error":"\\"error\\":1"}', { error: `${MARK}1` }],
    ["__proto__", '{"__proto__":{"a":1},"b":2}', { [MARK]: { a: 1 }, b: 2 }],
    ["a-visitor", '{"a-visitor":1,"another-key":2}', { [MARK]: 2 }, "another-key"],
    ["7654321", '{"code":7654321,"text":"e 7654321"}', { code: 7_654_321, text: "e 7654321" }],
    ["e", '{"error":"There were redirects"}', { error: "There were redirects" }],
  ];
  for (const [key, text, expected, own = key] of cases) {
    const headers = { "x-request-id": "request-e", "content-type": "text/plain; a=e" };
    const call = clientGetting(text, { status: 400, headers }, own).checkKey(key);
    const { response } = await rejection(HttpError, call);
    expect(response.body).toEqual(expected);
    expect(Object.fromEntries(response.headers)).toEqual(headers);
  }
});

Deno.test("errors show no key in a header's name, in Retry-After or in the address", async () => {
  const key = "1234567890";
  const headers = { [`x-${key}`]: "a", "retry-after": key, "x-id": "b" };
  const call = clientGetting(null, { status: 503, headers }, key).call("GET", `keys/${key}`);
  const error = await rejection(HttpError, call);
  expect([...error.response.headers.keys()]).toEqual(["retry-after", "x-id"]);
  expect(error.message).toContain(`${baseUrl}keys/${MARK}"`);
  expect(shown(error)).not.toContain(key);
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
    // A JSON Pointer would write the key in another form.
    { path: `/a/${MARK}/${MARK}`, rule: "schema", message: "Bad" },
  ]);
  expect(response.body).toBe(MARK);
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

/** Keys that were a problem, or may be one. */
// deno-fmt-ignore
const oddKeys = [
  "17643060", '"error":', "abcdefg", '"', "[]", "{}", "$&$`$'$1", "__proto__", "[redacted]",
  "redacted", "redacted][", "[[redacted]]", "x[redact", "cted]key", '\\"\\"\\"\\"', "\\u0022\\u",
];
const alphabets = ["0123456789", '"\\', '{}[]:,"\\1 ', "[redacted]", "aB3-_./~+=", "\\u0123456"];

/** Bodies that have a key, or what may be taken for one. */
const bodiesOf = (key: string) => {
  const json = JSON.stringify(key);
  const escaped = key.replace(/[^]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`);
  const digits = key.replace(/\D|^0+/g, "");
  // deno-fmt-ignore
  return [
    "", `Bad ${key}!`, key, `${key.slice(0, 4)}${key}${key.slice(4)}`, `{"error":${json}`, json,
    `{"error":${json},"t":1764306000123,"again":${json}}`, `{"error":"${escaped}"}`,
    `{${json}:{${json}:[${json}]},"other":{"${escaped}":1}}`, `[17${digits}23,-0.${digits}1]`,
    JSON.stringify({ error: JSON.stringify({ error: key }) }), '{"redacted":["x[redacted]"]}',
    `${"[".repeat(600)}${json}${"]".repeat(600)}`, '{"apiKeyValid":"no"}',
  ];
};

/** All texts in a value, without what `inspect` and `JSON.stringify` write between and around them. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return yield String(value);
  if (value instanceof Headers) value = Object.fromEntries(value);
  for (const name of Reflect.ownKeys(value as object)) {
    yield String(name);
    yield* textsOf((value as Record<PropertyKey, unknown>)[name]);
  }
}

Deno.test("a call fails with an error of the package that shows no key, whatever the key and the response", async () => {
  const seed = 14; // Any other must do, too.
  const random = randomNumbers(seed);
  const pick = <T>(list: ArrayLike<T>) => list[Math.floor(random() * list.length)]!;
  const randomKey = (): string => {
    if (random() < 0.2) return pick(oddKeys);
    const alphabet = pick(alphabets);
    return Array.from({ length: 1 + random() * 16 }, () => pick(alphabet)).join("").trim() || "a";
  };
  let respond: () => Promise<Response>;
  using _fetch = replaceFetch(() => () => respond()); // for the command
  const schema = schemaOf((value) => {
    const text = JSON.stringify(value) ?? "nothing";
    return { issues: [{ message: `Bad ${text}`, path: [text, 0] }] };
  });
  for (let round = 0; round < 1_000; round++) {
    const [key, own] = [randomKey(), randomKey()];
    const body = pick(bodiesOf(random() < 0.8 ? key : own));
    const status = pick([0, 200, 307, 400, 503]);
    const way = pick(["checkKey", "checkOwnKey", "call", "POST", "check-key --json"]);
    respond = async () => {
      const echo = { "x-echo": `${own}, ${key}`, location: `/${key}`, "retry-after": own };
      if (status) return new Response(body, { status, headers: echo });
      throw Object.assign(new Error(`No ${body}`), { code: await key });
    };
    const client = clientOf(() => respond(), { apiKey: own, retries: 0 });
    let stdout = "";
    const calls: Record<typeof way, () => Promise<unknown>> = {
      checkKey: () => client.checkKey(key),
      checkOwnKey: () => client.checkOwnKey(),
      call: () => client.call("PUT", "a", { body: { apiKey: key }, schema }),
      POST: () => client.POST(checkKeyPath, { body: { apiKey: key } }),
      "check-key --json": () =>
        run(["check-key", "--json", "--retries=0", `--base-url=${baseUrl}`], {
          env: { SCAM_ADDRESS_API_KEY: own },
          stdout: { write: (text: string) => stdout += text },
        } as never),
    };
    const end = await calls[way]!().catch((error) => error);
    const secrets = { checkOwnKey: [own], "check-key --json": [own] }[way] ?? [own, key];
    const printed = stdout && JSON.parse(stdout).error;
    const texts = [...textsOf(printed)];
    if (end instanceof ScamAddressError) texts.push(...textsOf(end), ...textsOf(end.toJSON()));
    const leak = texts.find((text) => secrets.some((one) => one.length >= 8 && text.includes(one)));
    const resolves = way === "POST" && status >= 400;
    const isOwn = resolves ||
      (stdout ? printed.code !== "unexpected" : end instanceof ScamAddressError);
    expect({ seed, round, key, own, body, status, way, leak, isOwn })
      .toEqual({ seed, round, key, own, body, status, way, leak: undefined, isOwn: true });
  }
});
