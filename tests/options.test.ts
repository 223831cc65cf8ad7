// Bad options and arguments: a clear error before anything is sent.
import { expect } from "@std/expect";
import { inspect } from "node:util";
import { type ClientOptions, ConfigurationError, createClient, type Method } from "../mod.ts";
import { type AnyPath, json, serve, validKey } from "./server.ts";

const baseUrl = "https://service.example/";

/** Creates a client whose fetch fails the test. */
function unsent(options: Partial<ClientOptions> = {}) {
  return createClient({
    baseUrl,
    apiKey: "some-key",
    fetch: () => {
      throw new Error("A request was sent");
    },
    ...options,
  });
}

function thrown(act: () => unknown): ConfigurationError {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return error as ConfigurationError;
  }
  throw new Error("Nothing was thrown");
}

async function rejected(promise: Promise<unknown>): Promise<ConfigurationError> {
  const error = await promise.then(() => new Error("Nothing was thrown"), (error) => error);
  expect(error).toBeInstanceOf(ConfigurationError);
  return error;
}

Deno.test("createClient() throws when it gets no options", () => {
  expect(thrown(() => createClient(undefined as never)).message).toMatch(/"baseUrl"/);
  expect(thrown(() => createClient("https://x/" as never)).message).toMatch(/"baseUrl"/);
});

const badBaseUrls: Record<string, unknown> = {
  missing: undefined,
  empty: "",
  "not a string": 7,
  relative: "api/",
  "without a scheme": "service.example/api",
  "of another scheme": "ftp://service.example/",
  "a file": "file:///tmp/",
  "with a user": "https://user@service.example/",
  "with a password": "https://user:secret-pass@service.example/",
  "with a query": "https://service.example/?key=secret-pass",
  "with an empty query": "https://service.example/?",
  "with a fragment": "https://service.example/#part",
  "with an empty fragment": "https://service.example/#",
};
for (const [what, value] of Object.entries(badBaseUrls)) {
  Deno.test(`createClient() throws when baseUrl is ${what}`, () => {
    const error = thrown(() => createClient({ baseUrl: value as string }));
    expect(error.message).toMatch(/^"baseUrl" (must|is missing)/);
    expect(inspect(error)).not.toContain("secret-pass");
  });
}

const badKeys: Record<string, unknown> = {
  empty: "",
  "a number": 7,
  null: null,
  "an object": { secret: "secret-key" },
  "with a line feed": "secret-key\n",
  "with a carriage return": "secret\r-key",
  "with a line break and a header": "secret-key\r\nx-evil: 1",
  "with a null character": "secret-key\0",
  "with a tab": "secret\t-key",
  "with a control character": "secret-key\x7f",
  "with a non-Latin-1 character": "secret-key-\u20ac",
  "with an emoji": "secret-key-\u{1f511}",
  "with a space in front": " secret-key",
  "with a space behind": "secret-key ",
};
for (const [what, value] of Object.entries(badKeys)) {
  Deno.test(`A key that is ${what} is refused and not shown`, async () => {
    const apiKey = value as string;
    const errors = [
      thrown(() => unsent({ apiKey })),
      await rejected(unsent().checkKey(apiKey)),
      await rejected(unsent({ apiKey: () => apiKey }).checkKey()),
      await rejected(unsent({ apiKey: () => Promise.resolve(apiKey) }).call("GET", "endpoint")),
    ];
    for (const error of errors) {
      expect(error.message).toMatch(/^"apiKey" /);
      expect(inspect(error, { depth: 8, showHidden: true })).not.toMatch(/secret/);
    }
  });
}

Deno.test("an authenticated call without a key is refused", async () => {
  const client = unsent({ apiKey: undefined });
  expect((await rejected(client.call("GET", "endpoint"))).message).toMatch(/"apiKey"/);
});

Deno.test("checkKey() is refused when there is no key anywhere", async () => {
  expect((await rejected(unsent({ apiKey: undefined }).checkKey())).message).toMatch(/"apiKey"/);
});

Deno.test("a function that fails to give a key is reported with its error as the cause", async () => {
  const cause = new Error("The vault is closed");
  const apiKey = () => Promise.reject(cause);
  const error = await rejected(unsent({ apiKey }).call("GET", "endpoint"));
  expect(error.message).toMatch(/"apiKey"/);
  expect(error.cause).toBe(cause);
});

const badEndpoints: Record<string, unknown> = {
  "empty": "",
  "a slash": "/",
  "not a string": 7,
  "an absolute URL": "https://evil.example/x",
  "an absolute URL in capitals": "HTTPS://evil.example/x",
  "an absolute URL without slashes": "https:evil.example",
  "a javascript URL": "javascript:alert(1)",
  "a host": "//evil.example/x",
  "a host behind a backslash": "\\\\evil.example/x",
  "a host behind both slashes": "/\\evil.example/x",
  "parent": "..",
  "parent first": "../x",
  "parent inside": "x/../../y",
  "parent last": "x/..",
  "itself": "./x",
  "parent, encoded": "%2e%2e/x",
  "parent, half encoded": ".%2E/x",
  "parent, with an encoded slash": "x%2f..%2fy",
  "parent, with an encoded backslash": "x%5c..%5cy",
  "parent, behind a tab": ".\t./x",
  "a backslash": "a\\b",
  "a line break": "a\nb",
  "a null character": "a\0b",
  "a space": "a b",
  "a query": "x?y=1",
  "a fragment": "x#y",
  "a stray percent sign": "100%",
};
for (const [what, value] of Object.entries(badEndpoints)) {
  Deno.test(`call() refuses an endpoint that is or holds ${what}`, async () => {
    const error = await rejected(unsent().call("GET", value as string));
    expect(error.message).toMatch(/^"endpoint" must/);
  });
}

Deno.test("call() takes an endpoint with or without a slash in front, and encoded parts", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient({ baseUrl: `${server.url}api`, apiKey: "some-key" });
  const endpoints = ["endpoint", "/endpoint", "a/b/", "a%2Fb", "a..b", "...", "x%3Ay", "{id}"];
  for (const endpoint of endpoints) await client.call("GET", endpoint);
  expect(server.requests.map(({ url }) => url)).toEqual([
    "/api/endpoint",
    "/api/endpoint",
    "/api/a/b/",
    "/api/a%2Fb",
    "/api/a..b",
    "/api/...",
    "/api/x%3Ay",
    "/api/%7Bid%7D",
  ]);
});

Deno.test("call() refuses an unknown method and takes one in small letters", async () => {
  for (const method of ["", "FETCH", "TRACE", "CONNECT", "GET\n", undefined, null, 7]) {
    const error = await rejected(unsent().call(method as Method, "endpoint"));
    expect(error.message).toMatch(/^"method" must/);
  }
  await using server = await serve((_, response) => json(response, 1));
  await createClient({ baseUrl: server.url, apiKey: "k" }).call("patch" as Method, "endpoint");
  expect(server.requests[0]!.method).toBe("PATCH");
});

const circular: Record<string, unknown> = {};
circular.self = circular;
const badBodies: Record<string, unknown> = {
  "a circle": circular,
  "a bigint": 1n,
  "a bigint inside": { list: [1n] },
  "a function": () => {},
  "a symbol": Symbol("x"),
  "NaN": NaN,
  "infinity inside": { list: [Infinity] },
  "a form": new FormData(),
  "a map inside": { list: [new Map()] },
  "a function inside": { list: [() => {}] },
  "bytes inside": { list: [new Uint8Array(1)] },
};
for (const [what, body] of Object.entries(badBodies)) {
  Deno.test(`call() refuses a body that is or holds ${what}`, async () => {
    const error = await rejected(unsent().call("POST", "endpoint", { body }));
    expect(error.message).toMatch(/^"body" must/);
  });
}

Deno.test("call() refuses a body on a GET or HEAD request", async () => {
  for (const method of ["GET", "HEAD"] as const) {
    const error = await rejected(unsent().call(method, "endpoint", { body: {} }));
    expect(error.message).toMatch(/^"body" must/);
  }
});

Deno.test("call() refuses a query that has no form in a URL", async () => {
  const error = await rejected(unsent().call("GET", "endpoint", { query: { a: { b: { c: 1 } } } }));
  expect(error.message).toMatch(/^"query\.a\[b\]" must be/);
});

Deno.test("call() sends what turns itself into JSON, and leaves out what is undefined", async () => {
  await using server = await serve((_, response) => json(response, 1));
  class Report {
    lines = [Object(1), Object("a"), null];
    note = undefined;
  }
  const body = { at: new Date(0), of: Object.create(null), report: new Report() };
  await createClient({ baseUrl: server.url, apiKey: "k" }).call("POST", "endpoint", { body });
  expect(server.requests[0]!.body).toBe(
    '{"at":"1970-01-01T00:00:00.000Z","of":{},"report":{"lines":[1,"a",null]}}',
  );
});

Deno.test("methods take null for options, as for none", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: () => "some-key" });
  await client.GET("/a", null as never);
  await client.request("get", "/a", null as never);
  await client.call("GET", "a", null as never);
  await client.checkKey(undefined, null as never);
  expect(server.requests.length).toBe(4);
});

Deno.test("methods refuse a path that is no text", async () => {
  for (const path of [undefined, null, 7]) {
    await rejected(unsent().GET(path as never));
  }
});

Deno.test("calls refuse a signal that is none, and leave no timer behind", async () => {
  const client = unsent({ apiKey: () => "some-key" });
  for (const signal of ["x", new AbortController()]) {
    const options = { signal } as never;
    for (
      const promise of [
        client.checkKey(undefined, options),
        client.call("GET", "endpoint", options),
        client.POST("/checkKey", { body: { apiKey: "some-key" }, ...options as object }),
      ]
    ) {
      expect((await rejected(promise)).message).toMatch(/^"signal" must/);
    }
  }
});

Deno.test("methods refuse middleware that is no list", async () => {
  for (const middleware of [null, { onRequest() {} }]) {
    const error = await rejected(unsent().GET("/a" as never, { middleware } as never));
    expect(error.message).toContain('"middleware"');
  }
});

const badNumbers: [keyof ClientOptions, unknown[]][] = [
  ["timeout", [0, -1, 1.5, NaN, Infinity, 2 ** 31, "5", null]],
  ["retries", [-1, 0.5, NaN, Infinity, "2", null]],
  ["maxResponseBytes", [0, -1, 0.5, NaN, Infinity, "9", null]],
];
for (const [name, values] of badNumbers) {
  Deno.test(`createClient() and calls refuse a bad ${name}`, async () => {
    for (const value of values) {
      expect(thrown(() => unsent({ [name]: value })).message).toContain(`"${name}" must`);
      if (name === "maxResponseBytes") continue;
      const options = { [name]: value };
      const client = unsent();
      for (
        const promise of [
          client.call("GET", "endpoint", options),
          client.checkKey("some-key", options),
          client.POST("/checkKey", { body: { apiKey: "some-key" }, ...options }),
        ]
      ) {
        expect((await rejected(promise)).message).toContain(`"${name}" must`);
      }
    }
  });
}

Deno.test("createClient() refuses options of the wrong kind", () => {
  for (const name of ["fetch", "onRetry"] as const) {
    expect(thrown(() => unsent({ [name]: "x" as never })).message).toBe(
      `"${name}" must be a function, not a string`,
    );
  }
});

Deno.test("createClient() refuses headers that cannot be sent, without showing them", () => {
  const error = thrown(() => unsent({ headers: { authorization: "sec\nret" } }));
  expect(error.message).toMatch(/^"headers"/);
  expect(inspect(error, { showHidden: true })).not.toMatch(/sec.ret/s);
});

Deno.test("a request that the arguments cannot make is refused", async () => {
  const client = unsent();
  const list: HeadersInit[] = [{ "bad name": "x" }, { "x-bad": "sec\nret" }];
  for (const headers of list) {
    expect((await rejected(client.call("GET", "endpoint", { headers }))).code).toBe(
      "configuration",
    );
  }
});

Deno.test("createClient() looks the global fetch up when it is called", async () => {
  const client = createClient({ baseUrl });
  const original = globalThis.fetch;
  try {
    globalThis.fetch = () => Promise.resolve(Response.json(validKey));
    expect(await client.checkKey("some-key")).toEqual(validKey);
  } finally {
    globalThis.fetch = original;
  }
});

Deno.test("call() and methods take headers as a list of pairs", async () => {
  await using server = await serve((_, response) => json(response, {}));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey: "some-key" });
  const headers: [string, string][] = [["x-trace", "1"], ["x-trace", "2"], ["x-name", "a"]];
  await client.call("GET", "endpoint", { headers });
  await client.GET("/endpoint", { headers });
  for (const request of server.requests) {
    expect(request.headers).toMatchObject({ "x-trace": "1, 2", "x-name": "a" });
    expect(request.headers).not.toHaveProperty("0");
  }
  expect(server.requests.length).toBe(2);
});
