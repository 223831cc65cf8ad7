// The methods do what openapi-fetch's own client does: each call here goes through both.
import { expect } from "@std/expect";
import openapiFetch, { type Client, type Middleware } from "openapi-fetch";

import { type ClientOptions, createClient } from "../mod.ts";
import { keyHeader } from "./support/client.ts";
import { type AnyPath, json, type Recorded, serve } from "./support/server.ts";

type Call = (client: Client<AnyPath>, log: unknown[]) => Promise<unknown>;
type Options = Omit<ClientOptions, "baseUrl" | "fetch"> & {
  fetch?: (request: Request, extension?: unknown) => Promise<Response>;
};

/** The parts of a request in which the two clients must not differ. */
function comparable({ method, url, headers, body }: Recorded) {
  const { [keyHeader]: _key, "content-type": type, ...others } = headers;
  // openapi-fetch leaves this to the runtime, and so do both clients how a body is framed.
  for (const name of ["accept", "content-length", "transfer-encoding"]) delete others[name];
  const boundary = type?.split("boundary=")[1];
  const named = (text?: string) => boundary ? text?.replaceAll(boundary, "boundary") : text;
  // Without a body too, authenticated requests have a content type, which openapi-fetch's lack.
  return { method, url, body: named(body), others, ...body && { type: named(type) } };
}

/** Makes a call through both clients, and asserts that both do the same; returns what they do. */
async function expectAlike(call: Call, options: Options | ((log: unknown[]) => Options) = {}) {
  await using server = await serve((request, response) => {
    const status = Number(request.headers["x-status"] ?? 200);
    if (request.url === "/empty") response.setHeader("content-length", 0);
    const isEmpty = status === 204 || request.method === "HEAD" || request.url === "/empty";
    if (isEmpty) return void response.writeHead(status).end();
    json(response, { method: request.method, url: request.url }, status);
  });
  const run = async (create: (options: ClientOptions) => unknown) => {
    const log: unknown[] = [];
    const given = typeof options === "function" ? options(log) : options;
    const result = await call(create({ baseUrl: server.url, ...given }) as Client<AnyPath>, log);
    const { data, error, response } = Object(result);
    if (response && !response.bodyUsed) await response.arrayBuffer(); // openapi-fetch leaves it unread.
    return {
      data: data instanceof Blob || data instanceof ArrayBuffer // toEqual() does not compare these
        ? [data.constructor.name, await new Response(data).text()]
        : data,
      error,
      status: response?.status,
      log,
      requests: server.requests.splice(0).map(comparable),
    };
  };
  const theirs = await run((options) => openapiFetch(options as never));
  const ours = await run((options) => createClient({ ...options, apiKey: "key", retries: 0 }));
  expect(ours).toEqual(theirs);
  return ours;
}

type Init = Record<string, unknown>;
const get = (path: string, init: Init): Call => (client) => client.GET(path, init);
const post = (path: string, init: Init): Call => (client) => client.POST(path, init);

// Requests

const pathSerializer = (path: string) => path.replace("{id}", "own");
const ownQuery = (query: object) => `?own=${Object.keys(query)}`;
const lists = { array: { style: "pipeDelimited", explode: false }, allowReserved: true } as const;
const form = new FormData();
form.set("a", "b c");

Deno.test("GET() writes the query and the path as openapi-fetch does", async () => {
  const query = { a: [1, "b c"], b: { c: "d&e" }, g: null, i: "/?" };
  const params = { query, path: { id: [1, 2] } };
  await expectAlike(get("/a/{id}", { params }));
  for (const querySerializer of [lists, ownQuery]) {
    await expectAlike(get("/a/{id*}", { params, querySerializer }));
    await expectAlike(get("/a/{;id}", { params }), { querySerializer });
  }
  await expectAlike(get("/a/{id}", { params, pathSerializer }), { pathSerializer: () => "/b" });
  await expectAlike(get("/a/{id}", { params }), { pathSerializer });
});

Deno.test("GET() treats unset options as openapi-fetch does", async () => {
  const names = ["baseUrl", "headers", "parseAs", "querySerializer", "pathSerializer", "fetch"];
  for (const name of [...names, "bodySerializer", "middleware", "params", "signal"]) {
    await expectAlike(get("/a", { [name]: undefined }));
  }
  await expectAlike(get("/a", { baseUrl: "" }));
});

Deno.test("POST() writes bodies as openapi-fetch does", async () => {
  const headers = { "Content-Type": "text/plain" };
  const urlEncoded = { "Content-Type": "application/x-www-form-urlencoded" };
  const ownBody = (_: unknown, headers?: Headers) => `${headers?.get("content-type")}`;
  const plain = [{ a: [1, null] }, [], "text", 0, false, null, undefined, form];
  const calls: [Init, Options?][] = [
    ...plain.map((body): [Init] => [{ body }]),
    [{ body: 1, bodySerializer: ownBody }, { headers }],
    [{ body: 1, headers }, { bodySerializer: ownBody }],
    [{ body: 1, bodySerializer: ownBody }, { bodySerializer: () => "other" }],
    [{ body: { a: "b c" } }, { headers: urlEncoded }],
    [{ body: { a: "b c" }, headers: urlEncoded }],
    [{ body: 1, headers: { "Content-Type": null } }], // The platform names a type.
    [{ body: 1 }, { headers: { "Content-Type": null } }],
    [{ body: new URLSearchParams(), headers: urlEncoded }],
  ];
  const { signal } = new AbortController();
  calls.push([{ body: "a".repeat(2 ** 21), signal, middleware: [{ onRequest() {} }] }]);
  for (const [init, options] of calls) await expectAlike(post("/a", init), options);
  const { requests } = await expectAlike(post("/a", { body: form }));
  expect(requests[0]!.type).toBe("multipart/form-data; boundary=boundary");
});

Deno.test("POST() sends what a bodySerializer returns, as openapi-fetch does", async () => {
  const bodies: (() => unknown)[] = [
    () => form,
    () => new Blob(["text"], { type: "text/csv" }),
    () => new URLSearchParams({ a: "b c" }),
    () => new TextEncoder().encode("text"),
    () => "",
  ];
  for (const bodySerializer of bodies) {
    const call = post("/a", { body: {}, bodySerializer });
    expect((await expectAlike(call)).requests[0]!.body).toMatch(/text|a=b\+c|b c|^$/);
  }
});

// Responses

Deno.test("methods report statuses as openapi-fetch does", async () => {
  for (const status of [200, 201, 204, 400, 404, 500]) {
    const init = { headers: { "x-status": `${status}` } };
    for (const method of ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"] as const) {
      await expectAlike((client) => client[method]("/a", init));
    }
    await expectAlike((client) => client.request("patch", "/a", init));
    for (const parseAs of ["json", "text", "blob", "arrayBuffer"]) {
      await expectAlike(get("/a", { ...init, parseAs }));
      await expectAlike(get("/empty", { ...init, parseAs })); // There is neither data nor error.
    }
  }
});

// Middleware

/** Middleware that logs what it gets. */
function logging(name: string, log: unknown[]): Middleware {
  return {
    async onRequest({ request, schemaPath, params, options }) {
      const { baseUrl, fetch, ...others } = options;
      log.push(name, schemaPath, params, baseUrl, typeof fetch, Object.keys(others));
      log.push(request.url, await request.clone().text());
    },
    async onResponse({ request, response }) {
      const { headers, status, statusText, url } = response;
      log.push(name, request.url, url, status, statusText, headers.get("content-type"));
      log.push(await response.clone().json());
    },
    onError: ({ error }) => void log.push(name, error instanceof Error),
  };
}

Deno.test("middleware gets the same as from openapi-fetch, in the same order", async () => {
  const failing = { fetch: () => Promise.reject(new Error("boom")) };
  for (const init of [{}, failing]) {
    const { log } = await expectAlike(async (client, log) => {
      const ejected = logging("x", log);
      client.use(logging("a", log), ejected, logging("b", log));
      client.eject(ejected);
      const middleware = [null as never, logging("c", log)];
      const params = { path: { id: 5 } };
      const given = { ...init, body: { c: 1 }, middleware, params };
      return await client.POST("/a/{id}", given).catch(() => {});
    });
    expect(log).toContainEqual({ path: { id: 5 } });
  }
});
