import { expect } from "@std/expect";
import { ConfigurationError, createClient } from "../mod.ts";
import {
  createSandbox,
  DEMO_KEY,
  type SandboxContext,
  type SandboxOptions,
} from "../src/sandbox/service.ts";
import { keyHeader } from "./client.ts";
import { apiKeyHeader } from "../src/generated/operations.ts";

const baseUrl = "https://service.example/";

/** Sends a `checkKey` with any body; resolves to the response. */
function checkKey(body: string, options?: SandboxOptions, headers?: HeadersInit) {
  return createSandbox(options).fetch(
    new Request(`${baseUrl}checkKey`, {
      method: "POST",
      headers: headers ?? { "Content-Type": "application/json" },
      body,
    }),
  );
}

function get(path: string, apiKey?: string): Request {
  return new Request(
    baseUrl + path,
    apiKey === undefined ? {} : { headers: { [keyHeader]: apiKey } },
  );
}

Deno.test("createSandbox() has a demo key when it gets no keys", async () => {
  const { fetch } = createSandbox();
  const client = createClient({ baseUrl, fetch });
  expect(await client.checkKey(DEMO_KEY)).toEqual({ apiKeyValid: true, data: { credits: 100 } });
  expect(await client.checkKey("other-key")).toEqual({ apiKeyValid: false });
});

Deno.test("createSandbox() has the keys that it gets and no others", async () => {
  const { fetch } = createSandbox({ keys: { "rich-key": 7, "poor-key": 0 } });
  const client = createClient({ baseUrl, fetch });
  expect(await client.checkKey("rich-key")).toEqual({ apiKeyValid: true, data: { credits: 7 } });
  expect(await client.checkKey("poor-key")).toEqual({ apiKeyValid: true, data: { credits: 0 } });
  for (const key of [DEMO_KEY, "RICH-KEY", "constructor", "__proto__", "toString"]) {
    expect(await client.checkKey(key)).toEqual({ apiKeyValid: false });
  }
});

Deno.test("createSandbox() takes keys with the names of properties of every object", async () => {
  const keys = JSON.parse('{ "__proto__": 1, "constructor": 2 }');
  const client = createClient({ baseUrl, fetch: createSandbox({ keys }).fetch });
  expect(await client.checkKey("__proto__")).toEqual({ apiKeyValid: true, data: { credits: 1 } });
  expect(await client.checkKey("constructor")).toEqual({ apiKeyValid: true, data: { credits: 2 } });
});

Deno.test("createSandbox() refuses bad options and shows no key", () => {
  const handler = () => {};
  const bad: [unknown, RegExp][] = [
    [{ keys: ["some-key"] }, /^"keys" must be an object/],
    [{ keys: new Map([["some-key", 1]]) }, /^"keys" must be an object/],
    [{ keys: "some-key" }, /^"keys" must be an object/],
    [{ keys: null }, /^"keys" must be an object/],
    [{ keys: { good: 1, "": 1 } }, /^Key 2 of "keys" is empty or/],
    [{ keys: { "some-key\n": 1 } }, /^Key 1 of "keys" is empty or/],
    [{ keys: { "some-key☂": 1 } }, /^Key 1 of "keys" is empty or/],
    [{ keys: { "some-key": -1 } }, /^The credits of key 1 of "keys" must be a whole number/],
    [{ keys: { "some-key": 0.5 } }, /^The credits of key 1 of "keys" must be a whole number/],
    [{ keys: { "some-key": NaN } }, /^The credits of key 1 of "keys" must be a whole number/],
    [{ keys: { "some-key": "5" } }, /^The credits of key 1 of "keys" must be a whole number/],
    [{ routes: [handler] }, /^"routes" must be an object/],
    [{ routes: { report: handler } }, /^"routes" must name a method .* not "report"$/],
    [{ routes: { "get report": handler } }, /^"routes" must name a method/],
    [{ routes: { "GET report?page=1": handler } }, /^"routes" must name a method/],
    [{ routes: { "GET reports/{id": handler } }, /^"routes" must name a method/],
    [{ routes: { "GET reports/{}": handler } }, /^"routes" must name a method/],
    [{ routes: { "GET report": {} } }, /^The route "GET report" must be a function$/],
  ];
  for (const [options, message] of bad) {
    let error: unknown;
    try {
      createSandbox(options as SandboxOptions);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(message);
    expect((error as ConfigurationError).option).toBe(Object.keys(options as object)[0]);
    expect((error as Error).message).not.toMatch(/some-key/);
  }
});

Deno.test("fetch() finds operations and routes below any base path", async () => {
  const { fetch } = createSandbox({ routes: { "GET report": () => "found" } });
  for (const base of ["", "api/", "a/b.c/%20d/", "report/"]) {
    const client = createClient({ baseUrl: baseUrl + base, apiKey: DEMO_KEY, fetch });
    expect((await client.checkKey()).apiKeyValid).toBe(true);
    expect(await client.call("GET", "report", { query: { page: 1 } })).toBe("found");
  }
  for (const path of ["reports", "areport", "report/1", "Report"]) {
    expect((await fetch(get(path, DEMO_KEY))).status).toBe(404);
  }
});

Deno.test("fetch() responds to checkKey without reading the key header", async () => {
  const headers = { "Content-Type": "application/json; charset=utf-8", [keyHeader]: "wrong-key" };
  const response = await checkKey('{ "apiKey": "demo-key", "more": 1 }', {}, headers);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  expect(await response.json()).toEqual({ apiKeyValid: true, data: { credits: 100 } });
});

Deno.test("fetch() responds with 400 when the body of checkKey does not match the document", async () => {
  for (const body of ["", "{", "null", "[]", '"demo-key"', "{}", '{ "apiKey": 1 }']) {
    const response = await checkKey(body);
    expect([body, response.status]).toEqual([body, 400]);
    expect(await response.json()).toEqual({
      error: 'The body must be a JSON object with a string "apiKey"',
    });
  }
});

Deno.test("fetch() responds with 415 when checkKey is not sent as JSON", async () => {
  const response = await checkKey('{ "apiKey": "demo-key" }', {}, { "Content-Type": "text/plain" });
  expect(response.status).toBe(415);
  expect(await response.json()).toEqual({
    error: 'The header "Content-Type" must be "application/json"',
  });
});

Deno.test("fetch() responds with 401 without a valid key, for routes and unknown endpoints", async () => {
  const { fetch } = createSandbox({
    routes: {
      "GET report": () => {
        throw new Error("The route was called");
      },
    },
  });
  for (const path of ["report", "unknown", "checkKey", ""]) {
    for (const apiKey of [undefined, "", "wrong-key", "constructor"]) {
      const response = await fetch(get(path, apiKey));
      expect([path, apiKey, response.status]).toEqual([path, apiKey, 401]);
      expect(await response.json()).toEqual({
        error: `The header "${apiKeyHeader}" must have a valid key`,
      });
    }
  }
});

Deno.test("fetch() responds with 404 to a valid key when there is no such endpoint", async () => {
  const { fetch } = createSandbox({ routes: { "GET report": () => 1 } });
  const client = createClient({ baseUrl, apiKey: DEMO_KEY, fetch });
  for (
    const [method, endpoint] of [["GET", "checkKey"], ["POST", "report"], ["GET", "x"]] as const
  ) {
    await expect(client.call(method, endpoint)).rejects.toMatchObject({
      status: 404,
      body: { error: 'The sandbox has no such endpoint; see its option "routes"' },
    });
  }
});

Deno.test("fetch() calls a route with the request and the key, and sends what it returns", async () => {
  const { fetch } = createSandbox({
    keys: { "some-key": 1 },
    routes: {
      "POST echo": async (request, { apiKey }) => ({ apiKey, body: await request.json() }),
      "GET response": () => new Response('"made"', { status: 203 }),
      "GET null": () => null,
      "DELETE nothing": () => {},
    },
  });
  const client = createClient({ baseUrl, apiKey: "some-key", fetch });
  expect(await client.call("POST", "echo", { body: [1] })).toEqual({
    apiKey: "some-key",
    body: [1],
  });
  expect(await client.call("GET", "response")).toBe("made");
  expect((await fetch(get("response", "some-key"))).status).toBe(203);
  expect(await client.call("GET", "null")).toBe(null);
  expect(await client.call("DELETE", "nothing")).toBe(undefined);
});

Deno.test("fetch() calls the most specific route in any order of routes", async () => {
  const paths = [
    "{any}",
    "reports",
    "{a}/{b}",
    "{kind}/latest",
    "reports/{id}",
    "reports/v{version}",
    "reports/latest",
    "users/{id}/reports",
    "reports/{id}/v1.0",
  ];
  const cases: Record<string, string> = {
    "reports": "reports",
    "users/5/reports": "users/{id}/reports",
    "api/v1/reports": "reports",
    "reports/latest": "reports/latest",
    "users/latest": "{kind}/latest",
    "reports/42": "reports/{id}",
    "reports/v2": "reports/v{version}",
    "reports/42/v1.0": "reports/{id}/v1.0",
    "reports/42/v1x0": "{a}/{b}",
    "other": "{any}",
  };
  for (const order of [paths, [...paths].reverse()]) {
    const routes = Object.fromEntries(order.map((path) => [`GET ${path}`, () => path]));
    const { fetch } = createSandbox({ routes });
    for (const [path, expected] of Object.entries(cases)) {
      const response = await fetch(get(path, DEMO_KEY));
      expect([path, await response.json()]).toEqual([path, expected]);
    }
  }
});

Deno.test("fetch() calls a route with its decoded path parameters", async () => {
  const { fetch } = createSandbox({
    routes: {
      "GET users/{user}/reports/{report-id}.{format}": (_request, { params }) => params,
      "GET none": (_request, { params }) => params,
      "GET {__proto__}/{constructor}/x": (_request, { params }) => Object.entries(params),
    },
  });
  const params = async (path: string) => (await fetch(get(path, DEMO_KEY))).json();
  expect(await params("api/users/caf%C3%A9%2F%20/reports/4.2.json")).toEqual({
    "user": "café/ ",
    "report-id": "4.2",
    "format": "json",
  });
  expect(await params("none")).toEqual({});
  expect(await params("a/b/x")).toEqual([["__proto__", "a"], ["constructor", "b"]]);
  expect(await params("users/%E9%/reports/1.csv")).toMatchObject({ user: "%E9%", format: "csv" });
});

Deno.test("fetch() gives each parameter of a segment except the first as little as possible", async () => {
  const patterns = ["a{x}-{y}-{z}.json", "b{x}{y}{z}", "c{x}--{y}", "d-{x}-e"];
  const routes = patterns.map((pattern) =>
    [`GET ${pattern}`, (_: Request, { params }: SandboxContext) => Object.values(params)] as const
  );
  const { fetch } = createSandbox({ routes: Object.fromEntries(routes) });
  const cases: Record<string, string[] | undefined> = {
    "a1-2-3.json": ["1", "2", "3"],
    "a1-2-3-4.json": ["1-2", "3", "4"],
    "a-----.json": ["-", "-", "-"],
    "a1--2.json": undefined,
    "a-1-2.json": undefined,
    "a1-2-.json": undefined,
    "a1-2-3.json5": undefined,
    "bcdef": ["cd", "e", "f"],
    "bcde": ["c", "d", "e"],
    "bcd": undefined,
    "c1---2": ["1-", "2"],
    "c--2": undefined,
    "d-1-e": ["1"],
    "d-e": undefined,
    "d--e": undefined,
  };
  for (const [path, expected] of Object.entries(cases)) {
    const response = await fetch(get(path, DEMO_KEY));
    const found = response.status === 404 ? undefined : await response.json();
    expect([path, found]).toEqual([path, expected]);
  }
});

Deno.test("fetch() compares a path of any length in one pass", async () => {
  // With a regular expression, which tries every division of the dashes, this would not end.
  const { fetch } = createSandbox({
    routes: {
      "GET {a}-{b}-{c}.json": () => "three",
      "GET {a}-{b}+{c}-{d}": () => "four",
    },
  });
  const dashes = "-".repeat(1_000_000);
  const statuses = [];
  for (const path of [dashes, `${dashes}.json`, `${dashes}/.json`]) {
    statuses.push((await fetch(get(path, DEMO_KEY))).status);
  }
  expect(statuses).toEqual([404, 200, 404]);
});

Deno.test("fetch() finds routes with any letters, encoded or not", async () => {
  const { fetch } = createSandbox({
    routes: {
      "GET réport/☂": () => "letters",
      "GET r%C3%A9sum%C3%A9": () => "encoded",
      "GET 100%": () => "percent",
      "GET a.b*c": () => "literal",
    },
  });
  const cases = {
    "réport/☂": "letters",
    "r%c3%a9port/%E2%98%82": "letters",
    "résumé": "encoded",
    "100%": "percent",
    "100%25": "percent",
    "a.b*c": "literal",
  };
  for (const [path, expected] of Object.entries(cases)) {
    const response = await fetch(get(path, DEMO_KEY));
    expect([path, await response.json()]).toEqual([path, expected]);
  }
  for (const path of ["r%E9port/%", "report", "axb*c", "%", "%zz/%ff"]) {
    expect([path, (await fetch(get(path, DEMO_KEY))).status]).toEqual([path, 404]);
  }
});

Deno.test("fetch() tells a documented operation from similar routes", async () => {
  const { fetch } = createSandbox({
    routes: { "POST {any}": () => "any", "POST users/checkKey": () => "longer" },
  });
  const post = (path: string, headers: HeadersInit = {}) =>
    fetch(new Request(baseUrl + path, { method: "POST", headers }));
  expect((await post("api/checkKey")).status).toBe(415); // the operation's own handler
  expect((await post("users/checkKey")).status).toBe(401); // not the operation, so with a key
  const longer = await post("users/checkKey", { [keyHeader]: DEMO_KEY });
  expect(await longer.json()).toBe("longer");
});

Deno.test("fetch() rejects with what a route throws", async () => {
  const error = new Error("Broken route");
  const { fetch } = createSandbox({ routes: { "GET report": () => Promise.reject(error) } });
  await expect(fetch(get("report", DEMO_KEY))).rejects.toBe(error);
});

Deno.test("fetch() calls a route in place of a documented operation, without requiring a key", async () => {
  const { fetch } = createSandbox({
    routes: {
      "POST checkKey": (_request, { apiKey }) =>
        Response.json({ none: apiKey === undefined }, { status: 503 }),
    },
  });
  const client = createClient({ baseUrl, fetch, retries: 0 });
  await expect(client.checkKey(DEMO_KEY)).rejects.toMatchObject({
    status: 503,
    body: { none: true },
  });
});

Deno.test("keys can change while the sandbox is used", async () => {
  const { fetch, keys } = createSandbox({
    keys: { "some-key": 2 },
    routes: {
      "POST spend": (_request, { apiKey, keys }) => {
        keys.set(apiKey!, keys.get(apiKey!)! - 1);
      },
    },
  });
  const client = createClient({ baseUrl, apiKey: "some-key", fetch });
  await client.call("POST", "spend");
  expect(await client.checkKey()).toEqual({ apiKeyValid: true, data: { credits: 1 } });
  keys.delete("some-key");
  expect(await client.checkKey()).toEqual({ apiKeyValid: false });
  await expect(client.call("POST", "spend")).rejects.toMatchObject({ status: 401 });
});
