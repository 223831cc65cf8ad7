import { expect } from "@std/expect";
import { ConfigurationError, createClient, HttpError } from "../mod.ts";
import { apiKeyHeader, operations } from "../src/generated/operations.ts";
import type { Operation } from "../src/operation.ts";
import { createSandbox, DEMO_KEY, type SandboxContext } from "../src/sandbox/service.ts";
import type { SandboxOptions, SandboxRoute } from "../src/sandbox/service.ts";
import { baseUrl, checkKeyPath, keyHeader, undocumented } from "./client.ts";
import { failure } from "./outcome.ts";

/** Sends a `checkKey` with any body; resolves to the response. */
function checkKey(body: string, headers: HeadersInit = { "Content-Type": "application/json" }) {
  const url = baseUrl + checkKeyPath.slice(1);
  return createSandbox().fetch(new Request(url, { method: "POST", headers, body }));
}

function get(path: string, apiKey?: string): Request {
  return new Request(
    baseUrl + path,
    apiKey === undefined ? {} : { headers: { [keyHeader]: apiKey } },
  );
}

/** Sends GET requests to a sandbox with a route for each path, which returns the path. */
function finder(paths: string[]) {
  const routes = Object.fromEntries(paths.map((path) => [`GET ${path}`, () => path]));
  const { fetch } = createSandbox({ routes });
  return async (path: string) => {
    const response = await fetch(get(path, DEMO_KEY));
    return response.ok ? await response.json() : response.status;
  };
}

Deno.test("createSandbox() has the keys that it gets and no others", async () => {
  const sandboxes: [SandboxOptions | undefined, Record<string, number>][] = [
    [undefined, { [DEMO_KEY]: 100 }],
    [{ keys: { "rich-key": 7, "poor-key": 0 } }, { "rich-key": 7, "poor-key": 0 }],
    [{ keys: JSON.parse('{ "__proto__": 1, "toString": 2 }') }, { ["__proto__"]: 1, toString: 2 }],
  ];
  for (const [options, keys] of sandboxes) {
    const client = createClient({ baseUrl, fetch: createSandbox(options).fetch });
    for (const [key, credits] of Object.entries(keys)) {
      expect(await client.checkKey(key)).toEqual({ apiKeyValid: true, data: { credits } });
    }
    for (const key of ["other-key", "RICH-KEY", "constructor"]) {
      expect(await client.checkKey(key)).toEqual({ apiKeyValid: false });
    }
  }
});

Deno.test("createSandbox() refuses bad options and shows no key", async () => {
  const route = () => {};
  const isText = /^"keys" must be text that a header can carry: key 1 is not$/;
  const isCredits = /^"keys" must have whole numbers of credits from 0: key 1 does not$/;
  const isObject = /^"keys" must be an object with keys and their credits$/;
  const bad: [unknown, RegExp][] = [
    [{ keys: ["S3CRET"] }, isObject],
    [{ keys: new Map([["S3CRET", 1]]) }, isObject],
    [{ keys: null }, isObject],
    [{ keys: { "": 1 } }, isText],
    [{ keys: { "S3CRET☂": 1 } }, isText],
    [{ keys: { S3CRET: -1 } }, isCredits],
    [{ keys: { S3CRET: NaN } }, isCredits],
    [{ keys: { S3CRET: "5" } }, isCredits],
    [{ routes: [route] }, /^"routes" must be an object with endpoints and their handlers$/],
    [{ routes: { "GET report": {} } }, /^"routes" has no function for "GET report"$/],
  ];
  for (const [options, message] of bad) {
    const error = await failure(ConfigurationError, () => createSandbox(options as SandboxOptions));
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/S3CRET/);
    expect(error.option).toBe(Object.keys(options as object)[0]);
  }
});

Deno.test("createSandbox() refuses the name of a route, and says which form it must have", async () => {
  const names = [
    ...["", "GET ", "report", "get report", "GET report?page=1", "GET a b", "GET a\\b"],
    ...["GET reports/{id", "GET reports/{}", "GET reports/id}", "GET {name}.json", "GET {a}{b}"],
  ];
  for (const name of names) {
    const options = { routes: { [name]: () => {} } };
    const error = await failure(ConfigurationError, () => createSandbox(options));
    expect(error.option).toBe("routes");
    expect(error.message).toBe(
      '"routes" must name a method and a path, with whole segments as parameters, ' +
        `as in "GET reports/{id}": "${name}" does not`,
    );
  }
});

Deno.test("fetch() sends what the OpenAPI document says about checkKey", async () => {
  const { responses = {} } = operations[`POST ${checkKeyPath}`]!;
  for (const apiKey of [DEMO_KEY, "wrong-key"]) {
    const response = await checkKey(JSON.stringify({ apiKey }));
    const validate = responses[response.status in responses ? response.status : "2XX"];
    const body: unknown = await response.json();
    expect(body).toMatchObject({ apiKeyValid: apiKey === DEMO_KEY });
    expect([response.ok, validate!(body)]).toEqual([true, undefined]);
  }
});

Deno.test("fetch() responds to checkKey without reading the key header", async () => {
  const headers = { "Content-Type": "application/json; charset=utf-8", [keyHeader]: "wrong-key" };
  const response = await checkKey('{ "apiKey": "demo-key", "more": 1 }', headers);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  expect(await response.json()).toEqual({ apiKeyValid: true, data: { credits: 100 } });
});

Deno.test("fetch() responds with 400 or 415 when checkKey gets no JSON object with a key", async () => {
  for (const body of ["", "{", "null", "[]", '"demo-key"', "{}", '{ "apiKey": 1 }']) {
    const response = await checkKey(body);
    expect([body, response.status, await response.json()]).toEqual([body, 400, {
      error: 'The body must be a JSON object with a string "apiKey"',
    }]);
  }
  const response = await checkKey('{ "apiKey": "demo-key" }', { "Content-Type": "text/plain" });
  expect([response.status, await response.json()]).toEqual([415, {
    error: 'The header "Content-Type" must be "application/json"',
  }]);
});

Deno.test("fetch() finds operations and routes below any base path", async () => {
  const { fetch } = createSandbox({ routes: { [`GET ${undocumented}`]: () => "found" } });
  for (const base of ["", "api/", "a/b.c/%20d/", `${undocumented}/`]) {
    const client = createClient({ baseUrl: baseUrl + base, apiKey: DEMO_KEY, fetch });
    expect((await client.checkKey(DEMO_KEY)).apiKeyValid).toBe(true);
    expect(await client.call("GET", undocumented, { query: { page: 1 } })).toBe("found");
  }
});

Deno.test("fetch() responds with 401 without a valid key, and with 404 when there is no endpoint", async () => {
  const unused = () => {
    throw new Error("The route was called");
  };
  const { fetch } = createSandbox({ routes: { [`POST ${undocumented}`]: unused } });
  for (const apiKey of [undefined, "", "wrong-key", "constructor"]) {
    const request = get(undocumented, apiKey);
    for (const each of [request, new Request(request, { method: "POST" })]) {
      const response = await fetch(each);
      expect([apiKey, response.status, await response.json()]).toEqual([apiKey, 401, {
        error: `The header "${apiKeyHeader}" must have a valid key`,
      }]);
    }
  }
  for (const path of [undocumented, `a${undocumented}`, `${undocumented}/1`, "", "%", "%zz/%ff"]) {
    const response = await fetch(get(path, DEMO_KEY));
    expect([path, response.status, await response.json()]).toEqual([path, 404, {
      error: 'The sandbox has no such endpoint; see its option "routes"',
    }]);
  }
});

Deno.test("fetch() calls a route with the request and the key, and sends what it returns", async () => {
  const { fetch } = createSandbox({
    keys: { "some-key": 1 },
    routes: {
      "POST undocumented/echo": async (request, { apiKey }) => [apiKey, await request.json()],
      "GET undocumented/response": () => new Response('"made"', { status: 203 }),
      "GET undocumented/null": () => null,
      "DELETE undocumented/nothing": () => {},
    },
  });
  const client = createClient({ baseUrl, apiKey: "some-key", fetch });
  expect(await client.call("POST", "undocumented/echo", { body: [1] })).toEqual(["some-key", [1]]);
  expect(await client.call("GET", "undocumented/response")).toBe("made");
  expect((await fetch(get("undocumented/response", "some-key"))).status).toBe(203);
  expect(await client.call("GET", "undocumented/null")).toBe(null);
  expect(await client.call("DELETE", "undocumented/nothing")).toBe(undefined);
});

Deno.test("fetch() calls the first route that matches, in the order given", async () => {
  const find = finder(["reports/latest", "reports/{id}", "{kind}/latest", "{any}/x/", "reports"]);
  expect(await find("reports/latest")).toBe("reports/latest");
  expect(await find("api/v1/reports/42")).toBe("reports/{id}");
  expect(await find("users/latest")).toBe("{kind}/latest");
  expect(await find("reports/x/")).toBe("{any}/x/");
  expect(await find("api/reports")).toBe("reports");
  expect(await find("reports/")).toBe(404); // no parameter is empty
  expect(await finder(["{id}", "reports"])("reports")).toBe("{id}");
});

Deno.test("fetch() calls a route with its decoded path parameters", async () => {
  const route = (_: Request, { params }: SandboxContext) => Object.entries(params);
  const { fetch } = createSandbox({
    routes: { "GET users/{user}/{report-id}": route, "GET {__proto__}/{constructor}/x": route },
  });
  const params = async (path: string) => (await fetch(get(path, DEMO_KEY))).json();
  expect(await params("api/users/caf%C3%A9%2F%20/4.2.json")).toEqual([
    ["user", "café/ "],
    ["report-id", "4.2.json"],
  ]);
  expect(await params("users/%E9%/%7Bid%7D")).toEqual([["user", "%E9%"], ["report-id", "{id}"]]);
  expect(await params("a/b/x")).toEqual([["__proto__", "a"], ["constructor", "b"]]);
});

Deno.test("fetch() finds routes with any letters, encoded or not", async () => {
  const find = finder(["réport/☂", "r%C3%A9sum%C3%A9", "100%", "a.b*c", "/slash"]);
  const cases: Record<string, string | number> = {
    "r%c3%a9port/%E2%98%82": "réport/☂",
    "résumé": "r%C3%A9sum%C3%A9",
    "100%25": "100%",
    "a.b*c": "a.b*c",
    "axb*c": 404,
    "r%E9port/%": 404,
    "slash": "/slash",
  };
  for (const [path, found] of Object.entries(cases)) {
    expect([path, await find(path)]).toEqual([path, found]);
  }
});

Deno.test("fetch() and createSandbox() read paths of any length in one pass", async () => {
  const long = "{a}/".repeat(50_000);
  const find = finder([`${long}x`, "{a}/{b}/x"]);
  expect(await find("-/".repeat(500_000))).toBe(404);
  expect(await find("-".repeat(1_000_000) + "/-/x")).toBe("{a}/{b}/x");
  const options = { routes: { [`GET ${long}{`]: () => {} } };
  expect(await failure(ConfigurationError, () => createSandbox(options))).toMatchObject({
    option: "routes",
  });
});

/** Runs a test with an operation that the document does not have. */
async function withOperation(endpoint: string, operation: Partial<Operation>, test: () => unknown) {
  const table = operations as Record<string, unknown>;
  table[endpoint] = { operationId: "toString", apiKey: "required", ...operation };
  try {
    await test();
  } finally {
    delete table[endpoint];
  }
}

Deno.test("fetch() responds with 501 when the sandbox has no handler for an operation", async () => {
  await withOperation(`GET /${undocumented}/{id}`, {}, async () => {
    const { fetch } = createSandbox();
    expect((await fetch(get(`${undocumented}/1`))).status).toBe(401);
    const response = await fetch(get(`api/${undocumented}/1`, DEMO_KEY));
    expect([response.status, await response.json()]).toEqual([501, {
      error: 'The operation has no handler; see the option "routes"',
    }]);
  });
  await withOperation(`GET /${undocumented}/{name}.json`, {}, async () => {
    const { fetch } = createSandbox();
    expect((await fetch(get(`${undocumented}/a.json`, DEMO_KEY))).status).toBe(404);
  });
});

Deno.test("fetch() sends what a route returns with the operation's status, and asks for its key", async () => {
  const cases: [Partial<Operation>, number, number][] = [
    [{ apiKey: "none", responses: { 201: () => undefined } }, 201, 201],
    [{ apiKey: "optional", responses: { 202: undefined, "2XX": () => undefined } }, 200, 200],
    [{ apiKey: "required", responses: { 200: undefined, 203: () => undefined } }, 203, 401],
    [{ apiKey: "required" }, 200, 401],
  ];
  for (const [operation, status, keyless] of cases) {
    await withOperation(`GET /${undocumented}/{id}`, operation, async () => {
      const route: SandboxRoute = (_request, { params }) => params;
      const { fetch } = createSandbox({ routes: { [`GET ${undocumented}/{name}`]: route } });
      const response = await fetch(get(`${undocumented}/1`, DEMO_KEY));
      expect([response.status, await response.json()]).toEqual([status, { name: "1" }]);
      expect((await fetch(get(`${undocumented}/1`))).status).toBe(keyless);
    });
  }
});

Deno.test("fetch() calls a route in place of checkKey, without requiring a key", async () => {
  const route: SandboxRoute = (_request, { apiKey }) => Response.json({ apiKey }, { status: 429 });
  const { fetch } = createSandbox({ routes: { [`POST ${checkKeyPath}`]: route } });
  const { status, body } = await failure(
    HttpError,
    createClient({ baseUrl, fetch, retries: 0 }).checkKey(DEMO_KEY),
  );
  expect([status, body]).toEqual([429, {}]);
});

Deno.test("keys can change while the sandbox is used", async () => {
  const spend: SandboxRoute = (_request, { apiKey, keys }) => {
    keys.set(apiKey!, keys.get(apiKey!)! - 1);
  };
  const routes = { [`POST ${undocumented}`]: spend };
  const { fetch, keys } = createSandbox({ keys: { "some-key": 2 }, routes });
  const client = createClient({ baseUrl, apiKey: "some-key", fetch });
  await client.call("POST", undocumented);
  expect(await client.checkKey("some-key")).toEqual({ apiKeyValid: true, data: { credits: 1 } });
  keys.delete("some-key");
  expect(await client.checkKey("some-key")).toEqual({ apiKeyValid: false });
  await expect(client.call("POST", undocumented)).rejects.toMatchObject({ status: 401 });
});
