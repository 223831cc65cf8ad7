// A bad option or argument is a ConfigurationError that names it, before anything is sent.
// Also what is sent for good ones: addresses, queries, headers and bodies.
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";

import {
  type CallOptions,
  type ClientOptions,
  ConfigurationError,
  createClient,
  type ScamAddressClient,
} from "../mod.ts";
import {
  apiKey,
  baseUrl,
  clientAt,
  clientOf,
  sendAll,
  undocumented,
  unsent,
} from "./support/client.ts";
import { rejection } from "./support/rejection.ts";
import { type AnyPath, serve, serveValid } from "./support/server.ts";

/** Returns the message of the error that an attempt fails with, which names an option. */
async function refusal(option: string, attempt: Promise<unknown> | (() => unknown)) {
  const error = await rejection(ConfigurationError, attempt);
  expect(error.option).toBe(option);
  expect(error.message.startsWith(`"${option}" `)).toBe(true);
  return error.message;
}

/** Returns the message of the error that createClient() throws. */
const refusalOf = (option: string, options: unknown) =>
  refusal(option, () => createClient(options as ClientOptions));

// Options of the client and of calls

Deno.test("createClient() refuses a baseUrl that is missing or no absolute address of a service", async () => {
  // deno-fmt-ignore
  const values = [
    undefined, "", 7, "api/", "ftp://127.0.0.1", "blob:https://service.example",
    "https://user:secret-pass@service.example/", "https://service.example/?key=secret-pass",
    "https://service.example/#part", "https://service.example/#",
  ];
  for (const value of values) {
    const message = await refusalOf("baseUrl", { baseUrl: value, allowInsecureHttp: true });
    expect(message).not.toContain("secret-pass");
  }
});

Deno.test("createClient() refuses http for hosts that are not loopback addresses", async () => {
  // deno-fmt-ignore
  const hosts = [
    "service.example", "127.evil.example", "0.0.0.0", "[::ffff:8.8.8.8]",
    "localhost.evil.example", "127.0.0.1.evil.example", "localhost-evil.example",
  ];
  for (const baseUrl of [...hosts.map((host) => `http://${host}`), "HTTP://SERVICE.EXAMPLE"]) {
    for (const allowInsecureHttp of [undefined, false]) {
      const message = await refusalOf("baseUrl", { baseUrl, allowInsecureHttp });
      expect(message).toContain('"allowInsecureHttp"');
    }
    createClient({ baseUrl, allowInsecureHttp: true });
  }
  const own = ["localhost:1", "LOCALHOST", "127.0.0.1", "127.10.20.30", "[::1]:1", "127.1"];
  for (const host of own) createClient({ baseUrl: `http://${host}` });
});

Deno.test("createClient() and calls refuse numbers that are out of range", async () => {
  const times = /milliseconds above 0, up to 2147483647$/;
  const cases: [string, wrong: unknown[], message: RegExp, right: number[]][] = [
    ["timeout", [0, -1, NaN, Infinity, 2 ** 31, "5", null], times, [0.1, 2 ** 31 - 1]],
    ["totalTimeout", [0, Infinity, 2 ** 31], times, [0.1, 2 ** 31 - 1]],
    ["retries", [-1, 0.5, NaN, 101, "2", null], /0 to 100$/, [0, 100]],
    ["maxResponseBytes", [0, -1, 0.5, NaN, 2 ** 53, "9", null], /1 to \d{16}$/, [1, 2 ** 53 - 1]],
  ];
  for (const [name, values, message, limits] of cases) {
    for (const value of values) {
      const options = { [name]: value };
      expect(await refusalOf(name, { baseUrl, ...options })).toMatch(message);
      if (name === "maxResponseBytes") continue;
      for (const call of sendAll(unsent, options)) await refusal(name, call);
    }
    for (const value of limits) createClient({ baseUrl, [name]: value });
  }
});

const serializers = "bodySerializer pathSerializer";
const formats = "json, text, blob, arrayBuffer, stream";
const badHeader = "have names and values that HTTP allows, unlike";

/** Values of another type: functions, options of each of them, the values, and what the errors say. */
// deno-fmt-ignore
const wrongTypes: [owners: string, options: string, values: unknown[], problem: string][] = [
  ["createClient", "allowInsecureHttp", ["true", 1, null], "be of the type boolean"],
  ["call GET", "idempotent", ["false", 0, null], "be of the type boolean"],
  ["createClient", "onRetry", ["x", {}, null], "be of the type function"],
  ["createClient GET", `fetch ${serializers}`, ["x", {}, null], "be of the type function"],
  ["createClient GET", "querySerializer", ["x", null, 5], "be of the type function or object"],
  ["createClient", "requestInitExt", ["x", null], "be an object of names and values"],
  ["call", "query", ["a=b", null, new URLSearchParams("a=1"), new Map()], "be an object of names and values"],
  ["GET", "params", ["x", null], "be an object of names and values"],
  ["GET", "middleware", [{ onRequest() {} }, null], "be of the type Array"],
  ["GET", "parseAs", ["JSON", null, 0], `be one of ${formats}`],
  ["GET", "baseUrl", [new URL(baseUrl), 5, null], "be of the type string"],
  ["call GET checkKey", "signal", [new AbortController(), "x", {}], "be of the type AbortSignal"],
  ["createClient call GET checkKey", "headers", ["a: b", 5, null, () => {}],
    "be of the type HeadersInit"],
  ["createClient call GET checkKey", "headers", [
    { a: "secret\nb" }, { a: ["b", "secret€"] }, [["a", "secret\r\nb: c"]], [["a"]],
  ], `${badHeader} "a"`],
  ["call", "headers", [{ "a b": "c" }], `${badHeader} "a b"`],
];

Deno.test("an option of another type is refused before anything is sent", async () => {
  const calls: Record<string, (options: Record<string, unknown>) => unknown> = {
    createClient: (options) => createClient({ baseUrl, ...options }),
    call: (options) => unsent.call("GET", undocumented, options),
    GET: (options) => unsent.GET("/a", options),
    checkKey: (options) => unsent.checkKey("k", options),
  };
  for (const [owners, options, values, problem] of wrongTypes) {
    for (const owner of owners.split(" ")) {
      for (const option of options.split(" ")) {
        for (const value of values) {
          const message = await refusal(option, () => calls[owner]!({ [option]: value }));
          expect(message).toBe(`"${option}" must ${problem}`);
        }
      }
    }
  }
});

Deno.test("call() and request() refuse a method or an endpoint that there is not", async () => {
  for (const method of ["TRACE", "connect", "GE T", "", undefined, 5]) {
    const message = await refusal("method", unsent.call(method as never, "a"));
    expect(message).toMatch(/must be one of DELETE, GET, .* PUT$/);
    await refusal("method", () => unsent.request(method as never, "/a"));
  }
  await refusal("method", unsent.TRACE("/a" as never));
  for (const endpoint of [undefined, null, 5, new URL(baseUrl)]) {
    await refusal("endpoint", unsent.call("GET", endpoint as never));
  }
});

Deno.test("an unknown option is refused, with a list of the options that there are", async () => {
  const owners: Record<string, (options: Record<string, unknown>) => Promise<unknown>> = {
    "checkKey()": (options) => unsent.checkKey("k", options),
    "checkOwnKey()": (options) => unsent.checkOwnKey(options),
    "call()": (options) => unsent.call("GET", undocumented, options),
    "GET()": (options) => unsent.GET("/a", options),
    "PUT()": (options) => unsent.request("put", "/a", options),
    "createClient()": async (options) => await createClient({ baseUrl, ...options }),
  };
  const expectUnknown = async (owner: string, option: string) => {
    const message = await refusal(option, owners[owner]!({ [option]: undefined }));
    expect(message).toContain(`is not an option of ${owner}, which has `);
    expect(message).toMatch(/\btimeout\b/);
  };
  for (const owner of Object.keys(owners)) {
    for (const name of ["timeOut", "", "constructor"]) await expectUnknown(owner, name);
  }
  for (const name of ["apiKey", "schema", "query", "cache", "keepalive", "duplex", "Request"]) {
    await expectUnknown("GET()", name);
  }
});

Deno.test("call() refuses a schema that is no Standard Schema", async () => {
  for (const schema of [null, 1, {}, () => {}, { "~standard": {} }]) {
    await refusal("schema", unsent.call("GET", undocumented, { schema: schema as never }));
  }
});

Deno.test("methods send what they were given, when it changes later", async () => {
  const sent: unknown[] = [];
  const respond = async (request: Request) => {
    const { headers } = request;
    sent.push([await request.text(), headers.get("x-client"), headers.get("x-call")]);
    return Response.json(1);
  };
  const [own, body] = [{ "x-client": "given" }, { a: "given" }];
  const [ownHeaders, headers] = [new Headers(own), new Headers({ "x-call": "given" })];
  const key = async () => await apiKey;
  const clients = [own, ownHeaders].map((headers) => clientOf(respond, { apiKey: key, headers }));
  own["x-client"] = "later";
  ownHeaders.set("x-client", "later");
  const calls = clients.flatMap((client) => [
    client.call("POST", "a", { body, headers }),
    client.POST("/a", { body, headers }),
  ]);
  body.a = "later";
  headers.set("x-call", "later");
  await Promise.all(calls);
  expect(sent).toEqual(Array(4).fill(['{"a":"given"}', "given", "given"]));
});

// Addresses

/** Returns the addresses of the requests that a client sends, without the base URL. */
async function addressesOf(
  send: (client: ScamAddressClient<AnyPath>) => Promise<unknown>,
  options: Partial<ClientOptions> = {},
): Promise<string[]> {
  const urls: string[] = [];
  const respond = ({ url }: Request) => {
    urls.push(url.replace(baseUrl, ""));
    return Response.json(1);
  };
  await send(clientOf(respond, options));
  return urls;
}

Deno.test("call() takes an endpoint with or without a slash in front, and encoded parts", async () => {
  const endpoints = ["endpoint", "reports:batch", "a/b:c", "a%2Fb", "a..b", "...", "%7Bid%7D"];
  const addresses = await addressesOf(async ({ call }) => {
    for (const endpoint of ["/endpoint", ...endpoints]) await call("GET", endpoint);
  }, { pathSerializer: () => "/other" }); // It is for typed methods.
  expect(addresses).toEqual(["endpoint", ...endpoints]);
});

Deno.test("call() refuses an endpoint that is not a name below the base URL", async () => {
  // The URL parser removes "\t", and "\x01" at the end.
  // deno-fmt-ignore
  const endpoints = [
    "", "x?y=1", "x#y", "reports/{id}", ".", "..", "a/..", "%2e", ".%2E/x", "a\\b", "a\\..\\b",
    ".\t./a", "..\x01",
  ];
  for (const endpoint of endpoints) await refusal("endpoint", unsent.call("GET", endpoint));
});

Deno.test("typed methods refuse a path that leads elsewhere", async () => {
  for (const path of ["/..", "/a/../../b", "/{id}/%2e%2e/a", "/a\\..\\b", "/.\t./a", "x", ""]) {
    await refusal("path", unsent.GET(path, { params: { path: { id: 1 } } }));
  }
});

Deno.test("methods refuse a path parameter that is missing, empty or leads elsewhere", async () => {
  const values = [undefined, null, "", [], {}, { "../../../a": 1 }, new Date(), "..", ".", [".."], [
    ".",
  ]];
  const paths = [["/a/{id}", "id"], ["/{id*}/x", "id"], ["/{user-id}", "user-id"]];
  paths.push(["/{constructor}", "constructor"]); // Each object inherits one.
  const inits = [undefined, {}, { params: {} }].concat(
    values.map((value) => ({ params: { path: { id: value, "user-id": value } } })),
  );
  for (const init of inits) {
    for (const [path, name] of paths) {
      const message = await refusal("params.path", unsent.GET(path!, init as never));
      expect(message).toContain(`"${name}"`);
    }
  }
});

Deno.test("methods write path parameters that have a value", async () => {
  const addresses = await addressesOf(async ({ GET }) => {
    for (const id of [0, false, ["x", "y"], "a/b", "a..b"]) {
      await GET("/{id}", { params: { path: { id } } });
    }
    await GET("/x?of=/../a");
  });
  expect(addresses).toEqual(["0", "false", "x,y", "a%2Fb", "a..b", "x?of=/../a"]);
});

// Queries

Deno.test("call() writes a query as openapi-fetch does: a list repeats the name", async () => {
  const cases: [NonNullable<CallOptions["query"]>, string][] = [
    [{}, "a"],
    [{ a: "x y&z", b: 1.5, c: true, d: "" }, "a?a=x%20y%26z&b=1.5&c=true&d="],
    [{ a: null, b: undefined, c: [] }, "a"],
    [{ list: [1, "b", false] }, "a?list=1&list=b&list=false"],
  ];
  const other = { querySerializer: () => "other" }; // It is for typed methods.
  const addresses = await addressesOf(async ({ call }) => {
    for (const [query] of cases) await call("GET", "a", { query });
  }, other);
  expect(addresses).toEqual(cases.map(([, expected]) => expected));
});

Deno.test("methods refuse half a character, and what openapi-fetch does not write", async () => {
  const half = "\ud800";
  await refusal("query", unsent.call("GET", "a", { query: { half } }));
  await refusal("query", unsent.call("GET", "a", { query: { a: [[1]] as never } }));
  await refusal("query", unsent.GET("/a", { params: { query: { half } } }));
  await refusal("params.path", unsent.GET("/{id}", { params: { path: { id: half } } }));
});

// Headers and bodies

Deno.test("methods refuse a body of GET and HEAD", async () => {
  for (const body of [{}, null, ""]) {
    await refusal("body", unsent.call("HEAD", "a", { body }));
    await refusal("body", unsent.GET("/a", { body } as never));
  }
});

Deno.test("every call sends its headers, in addition to the client's, and asks for JSON", async () => {
  await using server = await serveValid();
  const headers = { "x-client": "a", "x-both": "a", "x-removed": "a" };
  const client = clientAt(server, { headers });
  const own = { "x-call": "b", "x-both": "b", "x-removed": null };
  await Promise.all([...sendAll(client, { headers: own }), client.checkKey("k", { headers: own })]);
  for (const { headers } of server.requests.splice(0)) {
    expect(headers).toMatchObject({ "x-client": "a", "x-both": "b", "x-call": "b" });
    expect(headers).not.toHaveProperty("x-removed");
    expect(headers.accept).toBe("application/json");
  }
  const init = { headers: { Accept: "text/csv" } };
  await Promise.all(sendAll(client, init));
  await clientAt(server, init).checkOwnKey();
  await client.GET(`/${undocumented}`, { parseAs: "text" });
  expect(server.requests.map(({ headers }) => headers.accept))
    .toEqual([...Array(4).fill("text/csv"), "*/*"]);
});

Deno.test("headers may be pairs, of the client and of a call", async () => {
  await using server = await serveValid();
  const client = clientAt(server, { headers: [["x-tenant", "a"]] });
  await Promise.all(sendAll(client, { headers: [["x-call", "b"], ["x-call", "c"]] }));
  for (const { headers } of server.requests) {
    expect(headers).toMatchObject({ "x-tenant": "a", "x-call": "b, c" });
    expect(headers).not.toHaveProperty("0");
  }
});

Deno.test("headers may be what can be read once, and those in params are checked, too", async () => {
  await using server = await serveValid();
  const client = clientAt(server);
  const once = new Map([["x-once", "a"]]).entries() as unknown as [string, string][];
  await client.call("GET", "a", { headers: once });
  expect(server.requests[0]!.headers).toMatchObject({ "x-once": "a" });
  await refusal("params.header", client.GET("/a", { params: { header: { "x-a": "b\nc" } } }));
});

Deno.test("createClient() refuses a requestInitExt that Request refuses", async () => {
  await refusalOf("requestInitExt", { baseUrl, requestInitExt: { referrer: "http://[" } });
});

Deno.test("methods refuse a body of which JSON keeps nothing", async () => {
  // deno-fmt-ignore
  const bodies = [
    () => {}, Symbol("x"), new Map([[1, 2]]), new Set([1]), Promise.resolve(1),
    new Blob(["text"]), new File(["text"], "name"), new Blob(["text"]).stream(),
    new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), Buffer.from("text"),
    new URLSearchParams("a=b"), // Its Content-Type is not set.
  ];
  for (const body of bodies) {
    await refusal("body", unsent.call("POST", "a", { body }));
    await refusal("body", unsent.POST("/a", { body }));
  }
});

Deno.test("methods refuse a body that JSON refuses, with the platform's reason", async () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = { circle };
  for (const [body, reason] of [[{ a: 1n }, /BigInt/], [circle, /circular|cyclic/]] as const) {
    const message = await refusal("body", unsent.call("POST", "a", { body }));
    expect(message).toMatch(/^"body" cannot be written as JSON: .+/);
    expect(message).toMatch(reason);
    expect(message).not.toContain("\n");
  }
});

Deno.test("methods send bodies as JSON.stringify() writes them", async () => {
  class WithoutFields {}
  // deno-fmt-ignore
  const bodies = [
    null, false, 0, "", [], new Date(0), Object.create(null), new WithoutFields(),
    [{ at: new Date(0), no: undefined }, [], {}, null], { toJSON: () => 1 },
  ];
  const sent: string[] = [];
  const respond = async (request: Request) => {
    sent.push(await request.text());
    return new Response(null, { status: 204 });
  };
  const other = clientOf(respond, { bodySerializer: () => "other" }); // It is for typed methods.
  for (const body of bodies) {
    await other.call("POST", "a", { body });
    await clientOf(respond).POST("/a", { body });
    expect(sent.splice(0)).toEqual(Array(2).fill(JSON.stringify(body)));
  }
});

Deno.test("call() resolves to the response, with its headers and status, and no error", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(201, { "x-cost": "2" }).end("[1]");
  });
  const client = clientAt(server);
  const { data, response, ...others } = await client.call("POST", undocumented);
  expect([data, response.status, response.headers.get("x-cost")]).toEqual([[1], 201, "2"]);
  expect([response.url, others]).toEqual([`${server.url}${undocumented}`, {}]);
});
