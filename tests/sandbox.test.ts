// The service in memory: it follows the document, and the routes that callers add.
import { expect } from "@std/expect";
import { ConfigurationError, createClient } from "../mod.ts";
import {
  createSandbox,
  DEMO_KEY,
  type Sandbox,
  type SandboxRoute,
} from "../src/sandbox/service.ts";
import {
  type Access,
  addGeneratedOperation,
  baseUrl,
  checkKeyPath,
  keyHeader,
  replaceFetch,
  undocumented,
} from "./support/client.ts";
import type { Operation } from "./support/internals.ts";
import { rejection } from "./support/rejection.ts";
import { demoCredits, validKey } from "./support/server.ts";

const headers = { [keyHeader]: DEMO_KEY };

/** The body of the sandbox's own errors. */
const sentence = { error: expect.any(String) };

/** Sends a request, by default with the demo key; resolves to the status and the JSON. */
async function ask({ fetch }: Sandbox, path: string, init: RequestInit = { headers }) {
  const response = await fetch(baseUrl + path, init);
  const text = await response.text();
  return [response.status, text && JSON.parse(text)];
}

Deno.test("createSandbox() has the keys that it gets and no others, and they can change", async () => {
  const reserved = JSON.parse('{ "__proto__": 1, "toString": 2 }');
  for (const keys of [undefined, { "rich-key": 7, "poor-key": 0 }, reserved]) {
    const sandbox = createSandbox({ keys });
    const client = createClient({ baseUrl, fetch: sandbox.fetch });
    for (const [key, credits] of Object.entries<number>(keys ?? { [DEMO_KEY]: demoCredits })) {
      expect(await client.checkKey(key)).toEqual({ apiKeyValid: true, data: { credits } });
      sandbox.keys.delete(key);
    }
    for (const key of [DEMO_KEY, "poor-key", "RICH-KEY", "constructor"]) {
      expect(await client.checkKey(key)).toEqual({ apiKeyValid: false });
    }
  }
});

Deno.test("createSandbox() refuses bad options, says which, and shows no key", async () => {
  const ok = { [DEMO_KEY]: 1 };
  // deno-fmt-ignore
  const cases: [option: string, values: object[]][] = [
    ["keys", [
      { "": 1 }, { ...ok, "S3CRET☂": 1 }, { S3CRET: -1 }, { ...ok, S3CRET: 0.5 }, { S3CRET: 2 ** 53 },
    ]],
    ["key", [{ S3CRET: 1 }]],
  ];
  // deno-fmt-ignore
  const endpoints = [
    "", "GET ", "report", "get report", "GET report?page=1", "GET a b", "GET a\\b", "GET caf%C3%A9",
    "GET reports/{id", "GET reports/{}", "GET reports/id}", "GET files/{name}.json", "GET v{n}",
  ];
  cases.push(["routes", endpoints.map((name) => ({ [name]: () => {} }))]);
  for (const [option, values] of cases) {
    for (const value of values) {
      const error = await rejection(ConfigurationError, () => createSandbox({ [option]: value }));
      expect(error.option).toBe(option);
      expect(error.message).not.toContain("S3CRET");
    }
  }
});

Deno.test("fetch() checks keys as the OpenAPI document says, and by the body alone", async () => {
  const check = (type: string, body: string) => {
    const headers = { "Content-Type": type, [keyHeader]: "wrong-key" };
    return ask(createSandbox(), checkKeyPath.slice(1), { method: "POST", headers, body });
  };
  const type = "application/json; charset=utf-8";
  const body = JSON.stringify({ apiKey: DEMO_KEY, more: 1 });
  expect(await check(type, body)).toEqual([200, validKey]);
  expect(await check("Application/JSON", body)).toEqual([200, validKey]);
  expect(await check(type, '{ "apiKey": "wrong-key" }')).toEqual([200, { apiKeyValid: false }]);
  for (const body of ["", "{", "null", "[]", '"some-key"', "{}", '{ "apiKey": 1 }']) {
    expect([body, ...await check(type, body)]).toEqual([body, 400, sentence]);
  }
  for (const type of ["text/plain", "application/jsonx"]) {
    expect([type, ...await check(type, body)]).toEqual([type, 415, sentence]);
  }
});

Deno.test("fetch() takes what the global fetch takes, and can stand in for it", async () => {
  const { fetch } = createSandbox();
  const url = `${baseUrl}a/b.c/%20d${checkKeyPath}`; // Any base path works.
  const headers = { "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ apiKey: DEMO_KEY }) };
  for (const input of [url, new URL(url), new Request(url, { method: "PUT" })]) {
    const response = await fetch(input, init);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(validKey);
  }
  expect((await fetch(new URL(url))).status).toBe(401); // GET is no operation.
  await expect(fetch("/relative")).rejects.toThrow(TypeError);

  const client = createClient({ baseUrl }); // It looks up the global fetch for each call.
  using _fetch = replaceFetch(() => fetch);
  expect(await client.checkKey(DEMO_KEY)).toEqual(validKey);
});

Deno.test("fetch() hands a request on, and ignores what servers and workers pass after it", async () => {
  let received: Request | undefined;
  const { fetch } = createSandbox({
    routes: { [`POST ${undocumented}`]: (request) => void (received = request) },
  });
  const others = [
    [{ remoteAddr: {}, completed: Promise.resolve() }], // Deno.serve()
    [{ url: new URL(baseUrl), fetch }], // Bun.serve()
    [{ method: "GET", mode: "production", body: {}, signal: 1 }, { waitUntil() {} }], // a worker
  ];
  for (const context of others) {
    const init = { method: "POST", headers, body: "{}" };
    const request = new Request(`${baseUrl}${undocumented}`, init);
    expect((await fetch(request, ...context)).status).toBe(204);
    expect(received).toBe(request);
  }
});

Deno.test("fetch() responds with 401 without a valid key, and with 404 when there is no endpoint", async () => {
  const sandbox = createSandbox({ routes: { [`POST ${undocumented}`]: () => "found" } });
  for (const key of [undefined, "", "wrong-key", "constructor"]) {
    for (const method of ["GET", "POST"]) {
      const init = { method, headers: key === undefined ? {} : { [keyHeader]: key } };
      expect([key, ...await ask(sandbox, undocumented, init)]).toEqual([key, 401, sentence]);
    }
  }
  for (const path of [undocumented, `a${undocumented}`, `${undocumented}/1`, ""]) {
    const error = expect.stringContaining(`"GET /${path}": use createSandbox({ routes })`);
    expect(await ask(sandbox, `${path}?key=${DEMO_KEY}`)).toEqual([404, { error }]);
  }
});

Deno.test("fetch() calls a route with the request, the key and the keys, and sends what it returns", async () => {
  const sandbox = createSandbox({
    routes: {
      "POST -echo": async (request, { apiKey }) => [apiKey, await request.json()],
      "GET -response": () => new Response('"made"', { status: 203 }),
      "GET -null": () => null,
      "DELETE -credit": (_, { apiKey, keys }) => void keys.set(apiKey!, keys.get(apiKey!)! - 1),
    },
  });
  const cases: [string, RequestInit, unknown[]][] = [
    ["-echo", { method: "POST", body: "[1]" }, [200, [DEMO_KEY, [1]]]],
    ["-response", {}, [203, "made"]],
    ["-null", {}, [200, null]],
    ["-credit", { method: "DELETE" }, [204, ""]],
  ];
  for (const [path, init, found] of cases) {
    expect(await ask(sandbox, path, { headers, ...init })).toEqual(found);
  }
  expect(sandbox.keys.get(DEMO_KEY)).toBe(demoCredits - 1);
});

// Names in paths begin with "-", because no document has such names.
Deno.test("fetch() calls the longest route that matches the end of the path, of equals the first", async () => {
  // deno-fmt-ignore
  const cases: [string[], Record<string, unknown>][] = [
    [["-a", "-b/{id}", "{kind}/{id}/-a", "-b/{id}/-a"], {
      "-a?page=1": "-a", "5/-a": "-a", "api/v1/-b/42": "-b/{id}", "-b/-a": "-b/{id}",
      "-b/5/-a": "{kind}/{id}/-a",
      "x-a": 404, // It is a part of a segment.
      "-a/": 404, "-b/": 404, // No parameter is empty.
    }],
    [["{id}", "-a", "{any}/-x/", "{one}/{two}"], {
      "-a": "{id}", "-a/-x/": "{any}/-x/", "-a/-x": "{one}/{two}",
    }],
    [["-é/☂", "-a.b*c", "/-slash"], {
      "-%c3%a9/%E2%98%82": "-é/☂", "-a.b*c": "-a.b*c", "-axb*c": 404, "-slash": "/-slash",
    }],
  ];
  for (const [paths, expected] of cases) {
    const routes = Object.fromEntries(paths.map((path) => [`GET ${path}`, () => path]));
    const sandbox = createSandbox({ routes });
    for (const [path, found] of Object.entries(expected)) {
      const [status, json] = await ask(sandbox, path);
      expect([path, status === 200 ? json : status]).toEqual([path, found]);
    }
  }
});

Deno.test("fetch() calls a route with its decoded path parameters", async () => {
  const route: SandboxRoute = (_request, { params }) => Object.entries(params);
  const sandbox = createSandbox({
    routes: { "GET -users/{user}/{report-id}": route, "GET {__proto__}/{constructor}/-x": route },
  });
  const cases: Record<string, string[][]> = {
    "api/-users/caf%C3%A9%2F%20/%7Bid%7D": [["user", "café/ "], ["report-id", "{id}"]],
    "a/b/-x": [["__proto__", "a"], ["constructor", "b"]],
  };
  for (const [path, params] of Object.entries(cases)) {
    expect(await ask(sandbox, path)).toEqual([200, params]);
  }
});

Deno.test("fetch() responds with 501 when the sandbox has no handler for an operation", async () => {
  using _operation = addGeneratedOperation(`${undocumented}/{id}`);
  const sandbox = createSandbox({ routes: { "GET {id}": () => "found" } }); // It is shorter.
  expect((await ask(sandbox, `${undocumented}/1`, {}))[0]).toBe(401);
  expect((await ask(sandbox, `api/${undocumented}/1`))[0]).toBe(501);
  const other = createSandbox({ routes: { "GET {kind}/{id}": () => "found" } }); // It is as long.
  expect(await ask(other, `${undocumented}/1`)).toEqual([200, "found"]);
});

Deno.test("fetch() sends what a route returns with the operation's status, and asks for its key", async () => {
  const check = () => undefined;
  const cases: [Access, Operation["responses"], number, number][] = [
    ["none", { 201: check }, 201, 201],
    ["optional", { 202: undefined, "2XX": check }, 200, 200],
    ["required", { 200: undefined, 203: check }, 203, 401],
    ["required", {}, 200, 401],
  ];
  for (const [access, responses, status, keyless] of cases) {
    using _operation = addGeneratedOperation(`${undocumented}/{kind}/{id}`, responses, access);
    const route: SandboxRoute = (_request, { params }) => params;
    const sandbox = createSandbox({ routes: { [`GET ${undocumented}/{of}/{name}`]: route } });
    const path = `${undocumented}/a/1`;
    expect(await ask(sandbox, path)).toEqual([status, { of: "a", name: "1" }]);
    expect((await ask(sandbox, path, {}))[0]).toBe(keyless);
    const wrong = { headers: { [keyHeader]: "wrong-key" } };
    const refused = access === "none" ? status : 401;
    expect((await ask(sandbox, path, wrong))[0]).toBe(refused);
  }
});
