// A bad option or argument is a ConfigurationError that names it, before anything is sent.
// Also what is sent for good ones: addresses, queries, headers and bodies.
import { expect } from "@std/expect";

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
  callEveryWay,
  clientAt,
  clientOf,
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
    for (const allowInsecureHttp of [undefined, false, "false", 1]) {
      const message = await refusalOf("baseUrl", { baseUrl, allowInsecureHttp });
      expect(message).toContain('"allowInsecureHttp"');
    }
    createClient({ baseUrl, allowInsecureHttp: true });
  }
  const own = ["localhost:1", "LOCALHOST", "127.0.0.1", "127.10.20.30", "[::1]:1", "127.1"];
  for (const host of own) createClient({ baseUrl: `http://${host}` });
});

Deno.test("createClient() and calls refuse numbers that are out of range", async () => {
  const max = 2 ** 31 - 1;
  const cases: [string, wrong: unknown[], right: number[]][] = [
    ["timeout", [0, -1, NaN, Infinity, max + 1, "5", null], [1, max]],
    ["totalTimeout", [0, Infinity, max + 1], [1, max]],
    ["retries", [-1, NaN, 101], [0, 100]],
    ["maxResponseBytes", [0, -1, NaN, 2 ** 53, null], [1, 2 ** 53 - 1]],
  ];
  for (const [name, values, limits] of cases) {
    for (const value of values) {
      const options = { [name]: value };
      expect(await refusalOf(name, { baseUrl, ...options })).toMatch(/must be a number from \d to/);
      if (name === "maxResponseBytes") continue;
      for (const call of callEveryWay(unsent, options)) await refusal(name, call);
    }
    for (const value of limits) createClient({ baseUrl, [name]: value });
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

Deno.test("options must be an object, or left out", async () => {
  for (const value of ["a", 5, true] as never[]) {
    const calls = [
      unsent.checkKey("k", value),
      unsent.checkOwnKey(value),
      unsent.call("GET", "a", value),
      unsent.GET("/a", value),
    ];
    for (const attempt of [() => createClient(value), ...calls]) {
      expect(await refusal("options", attempt)).toContain("must be an object");
    }
  }
  await clientOf(() => Response.json(1)).call("GET", "a", null as never);
});

Deno.test("call() refuses a schema that is no Standard Schema", async () => {
  for (const schema of [null, 1, {}, () => {}, { "~standard": {} }]) {
    await refusal("schema", unsent.call("GET", undocumented, { schema: schema as never }));
  }
});

Deno.test("call() and request() take a method in small letters", async () => {
  const sent: string[] = [];
  const client = clientOf(({ method }) => {
    sent.push(method);
    return Response.json(1);
  });
  await client.call("patch" as never, "a", { body: 1 });
  await client.request("delete", "/a");
  expect(sent).toEqual(["PATCH", "DELETE"]);
  await refusal("body", unsent.call("get" as never, "a", { body: 1 }));
});

Deno.test("methods send what they were given, when it changes later", async () => {
  const sent: unknown[] = [];
  const respond = async (request: Request) => {
    const { headers } = request;
    sent.push([await request.text(), headers.get("x-client"), headers.get("x-call")]);
    return Response.json(1);
  };
  const body = { a: "given" };
  const [ownHeaders, headers] = [
    new Headers({ "x-client": "given" }),
    new Headers({ "x-call": "given" }),
  ];
  const key = async () => await apiKey;
  const clients = [clientOf(respond, { apiKey: key, headers: ownHeaders })];
  ownHeaders.set("x-client", "later");
  const calls = clients.flatMap((client) => [
    client.call("POST", "a", { body, headers }),
    client.POST("/a", { body, headers }),
  ]);
  body.a = "later";
  headers.set("x-call", "later");
  await Promise.all(calls);
  expect(sent).toEqual(Array(2).fill(['{"a":"given"}', "given", "given"]));
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
  });
  expect(addresses).toEqual(["endpoint", ...endpoints]);
});

Deno.test("call() refuses an endpoint that is not a name below the base URL, and says why", async () => {
  const cases: [endpoints: string[], why: RegExp][] = [
    [
      ["", "/", "https://b.example/x", "HTTP://b.example", "//b.example/x"],
      /must be the part after "baseUrl"/,
    ],
    [[".", "..", "a/..", "%2e", ".%2E/x", "/../a"], /has "\." or "\.\." as a segment/],
    [["reports/{id}", "{"], /has a parameter without a value/],
    [["x?y=1", "x#y"], /pass a query as an option/],
    // The URL parser removes "\t", and "\x01" at the end.
    [["a b", "a\\b", ".\t./a", "..\x01"], /must be encoded, with encodeURIComponent/],
  ];
  for (const [endpoints, why] of cases) {
    for (const endpoint of endpoints) {
      expect(await refusal("endpoint", unsent.call("GET", endpoint))).toMatch(why);
    }
  }
});

Deno.test("typed methods refuse a path that leads elsewhere", async () => {
  for (const path of ["/..", "/a/../../b", "/{id}/%2e%2e/a", "/a\\..\\b", "/.\t./a", "x"]) {
    await refusal("path", unsent.GET(path, { params: { path: { id: 1 } } }));
  }
});

Deno.test("methods refuse a path parameter that is missing, empty or leads elsewhere", async () => {
  const values = [undefined, null, "", [], [""], "..", ".", [".."], ["."]];
  const paths = ["/a/{id}", "/{id*}/x", "/{user-id}"];
  const inits = [undefined, {}, { params: {} }].concat(
    values.map((value) => ({ params: { path: { id: value, "user-id": value } } })),
  );
  for (const init of inits) {
    for (const path of paths) {
      const message = await refusal("path", unsent.GET(path, init as never));
      expect(message).toMatch(/without a value|as a segment/);
    }
  }
});

Deno.test("methods write path parameters that have a value", async () => {
  const addresses = await addressesOf(async ({ GET }) => {
    for (const id of [0, false, ["x", "y"], "a/b", "a..b"]) {
      await GET("/{id}", { params: { path: { id } } });
    }
  });
  expect(addresses).toEqual(["0", "false", "x,y", "a%2Fb", "a..b"]);
});

// Queries

Deno.test("call() writes a query as openapi-fetch does: a list repeats the name", async () => {
  const cases: [NonNullable<CallOptions["query"]>, string][] = [
    [{}, "a"],
    [{ a: "x y&z", b: 1.5, c: true, d: "" }, "a?a=x%20y%26z&b=1.5&c=true&d="],
    [{ a: null, b: undefined, c: [] }, "a"],
    [{ list: [1, "b", false] }, "a?list=1&list=b&list=false"],
  ];
  const addresses = await addressesOf(async ({ call }) => {
    for (const [query] of cases) await call("GET", "a", { query });
  });
  expect(addresses).toEqual(cases.map(([, expected]) => expected));
});

Deno.test("call() encodes names of a query, unless a querySerializer of the caller's does", async () => {
  const query = { "a&b": 1, "ü[c]": ["d", "e"] };
  const send = ({ call }: ScamAddressClient<AnyPath>) => call("GET", "a", { query });
  const encoded = "a%26b=1&%C3%BC%5Bc%5D=d";
  const array = { style: "form", explode: false } as const;
  const querySerializer = (query: object) => Object.keys(query).join();
  expect([
    ...await addressesOf(send),
    ...await addressesOf(send, { querySerializer: { array } }),
    ...await addressesOf(send, { querySerializer }),
  ]).toEqual([`a?${encoded}&%C3%BC%5Bc%5D=e`, `a?${encoded},e`, "a?a&b,%C3%BC[c]"]);
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
  await Promise.all([
    ...callEveryWay(client, { headers: own }),
    client.checkKey("k", { headers: own }),
  ]);
  for (const { headers } of server.requests.splice(0)) {
    expect(headers).toMatchObject({ "x-client": "a", "x-both": "b", "x-call": "b" });
    expect(headers).not.toHaveProperty("x-removed");
    expect(headers.accept).toBe("application/json");
  }
  const init = { headers: { Accept: "text/csv" } };
  await Promise.all(callEveryWay(client, init));
  await clientAt(server, init).checkOwnKey();
  await client.GET(`/${undocumented}`, { parseAs: "text" });
  expect(server.requests.map(({ headers }) => headers.accept))
    .toEqual([...Array(4).fill("text/csv"), "*/*"]);
});

Deno.test("headers may be pairs, of the client and of a call", async () => {
  await using server = await serveValid();
  const client = clientAt(server, { headers: [["x-tenant", "a"]] });
  await Promise.all(callEveryWay(client, { headers: [["x-call", "b"], ["x-call", "c"]] }));
  for (const { headers } of server.requests) {
    expect(headers).toMatchObject({ "x-tenant": "a", "x-call": "b, c" });
    expect(headers).not.toHaveProperty("0");
  }
});

Deno.test("headers may be what can be read once", async () => {
  await using server = await serveValid();
  const client = clientAt(server);
  const once = new Map([["x-once", "a"]]).entries() as unknown as [string, string][];
  await client.call("GET", "a", { headers: once });
  expect(server.requests[0]!.headers).toMatchObject({ "x-once": "a" });
});

Deno.test("methods refuse a body of which JSON keeps nothing", async () => {
  // deno-fmt-ignore
  const bodies = [
    () => {}, Symbol("x"), new Map([[1, 2]]), new Set([1]), Promise.resolve(1),
    new Blob(["text"]), new File(["text"], "name"), new Blob(["text"]).stream(),
    new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), new Uint8Array(1),
    new URLSearchParams("a=b"), // Its Content-Type is not set.
  ];
  for (const body of bodies) {
    await refusal("body", unsent.call("POST", "a", { body }));
    await refusal("body", unsent.POST("/a", { body }));
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
  for (const body of bodies) {
    await clientOf(respond).call("POST", "a", { body });
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
