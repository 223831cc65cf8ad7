// The methods do what openapi-fetch's own client does: each call here goes through both.
import { expect } from "@std/expect";
import openapi, { type Client, defaultBodySerializer, type Middleware } from "openapi-fetch";

import { createClient } from "../mod.ts";
import { json, serve } from "./server.ts";

// deno-lint-ignore no-explicit-any
type AnyClient = Client<any>;
type Call = (client: AnyClient) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

/** Makes a call through openapi-fetch and through the package, and asserts that they are alike. */
async function expectAlike(call: Call, headers?: Record<string, string>): Promise<void> {
  await using server = await serve((request, response) => {
    const status = Number(request.headers["x-status"] ?? 200);
    if (status === 204 || request.method === "HEAD") return void response.writeHead(status).end();
    json(response, { method: request.method, url: request.url }, status);
  });
  const options = { baseUrl: server.url, ...headers && { headers } };
  const outcomes = [];
  for (
    const client of [
      openapi(options) as AnyClient,
      createClient({ ...options, apiKey: "demo-key" }) as unknown as AnyClient,
    ]
  ) {
    const { data, error, response } = await call(client);
    outcomes.push({
      data: data instanceof Blob || data instanceof ArrayBuffer // which toEqual() would not compare
        ? await new Response(data).text()
        : data,
      error,
      status: response.status,
      requests: server.requests.splice(0).map(({ method, url, headers, body }) => {
        const { "x-api-key": _key, "content-type": type, ...others } = headers;
        delete others["content-length"]; // or the next: how a body is framed is the runtime's
        delete others["transfer-encoding"];
        const boundary = type?.split("boundary=")[1];
        const named = (text?: string) => boundary ? text?.replaceAll(boundary, "boundary") : text;
        // Without a body too, authenticated requests have a content type, which openapi-fetch's lack.
        return { method, url, body: named(body), others, ...body && { type: named(type) } };
      }),
    });
  }
  expect(outcomes[1]).toEqual(outcomes[0]);
}

/** Calls with options whose types the tests do without. */
const get = (path: string, init: object): Call => (client) => client.GET(path, init as never);
const post = (path: string, init: object): Call => (client) => client.POST(path, init as never);

Deno.test("GET() writes the query as openapi-fetch does", async () => {
  const query = {
    a: [1, "b c", true],
    b: { c: "d&e", f: 2 },
    g: null,
    h: undefined,
    i: "/?",
    j: [],
  };
  const serializers = [
    undefined,
    { array: { style: "form", explode: false } },
    { array: { style: "spaceDelimited", explode: false }, allowReserved: true },
    {
      array: { style: "pipeDelimited", explode: false },
      object: { style: "form", explode: false },
    },
    { object: { style: "form", explode: true } },
    (query: object) => `?own=${Object.keys(query)}`,
  ];
  for (const querySerializer of serializers) {
    await expectAlike(get("/a", { params: { query }, ...querySerializer && { querySerializer } }));
  }
});

Deno.test("GET() writes the path as openapi-fetch does", async () => {
  for (const value of ["b c", 5, ["x", "y/z"], { x: 1, y: "2" }]) {
    for (const place of ["{id}", "{id*}", "{.id}", "{.id*}", "{;id}", "{;id*}"]) {
      await expectAlike(get(`/a/${place}/b`, { params: { path: { id: value } } }));
    }
  }
  const pathSerializer = (path: string, { id }: { id: number }) => path.replace("{id}", `n${id}`);
  await expectAlike(get("/a/{id}", { params: { path: { id: 5 } }, pathSerializer }));
});

Deno.test("GET() treats unset options as openapi-fetch does", async () => {
  const names = ["baseUrl", "headers", "parseAs", "querySerializer", "pathSerializer", "fetch"];
  for (const name of [...names, "bodySerializer", "middleware", "params", "signal"]) {
    await expectAlike(get("/a", { [name]: undefined }));
  }
  for (const baseUrl of [null, ""]) await expectAlike(get("/a", { baseUrl }));
});

Deno.test("GET() sets headers as openapi-fetch does", async () => {
  const defaults = { "x-client": "a", "X-Both": "a" };
  for (const headers of [{ "x-both": "b" }, { "x-client": null }, { "x-list": ["a", 1, false] }]) {
    await expectAlike(get("/a", { headers, params: { header: { "x-param": 5 } } }), defaults);
  }
  await expectAlike(get("/a", { headers: new Headers({ "x-both": "b" }) }), defaults);
});

Deno.test("POST() sends bodies as openapi-fetch does", async () => {
  for (const body of [{ a: [1, null] }, [], "text", 0, false, null, undefined]) {
    await expectAlike(post("/a", { body }));
  }
  const bodySerializer = ({ a }: { a: number }) => `a=${a}`;
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  await expectAlike(post("/a", { body: { a: 1 }, bodySerializer, headers }));
  await expectAlike(post("/a", { body: { a: 1 }, bodySerializer: defaultBodySerializer, headers }));
  const toType = (_: unknown, headers: Headers) => `${headers.get("content-type")}`;
  const defaults = { "Content-Type": "text/plain" };
  await expectAlike(post("/a", { body: 1, bodySerializer: toType }), defaults);
  const toForm = ({ a }: { a: string }) => {
    const form = new FormData();
    form.set("a", a);
    return form;
  };
  await expectAlike(post("/a", { body: { a: "b" }, bodySerializer: toForm }));
});

Deno.test("methods report statuses as openapi-fetch does", async () => {
  for (const status of [200, 201, 204, 400, 404, 500]) {
    const headers = { "x-status": `${status}` };
    const init = { headers, retries: 0 };
    for (const method of ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"] as const) {
      await expectAlike((client) => client[method]("/a", init as never));
    }
    await expectAlike((client) => client.request("patch" as never, "/a", init as never));
    for (const parseAs of ["text", "blob", "arrayBuffer"]) {
      if (status === 204) continue; // openapi-fetch hands over nothing there
      await expectAlike(get("/a", { ...init, parseAs }));
    }
  }
});

Deno.test("methods run middleware as openapi-fetch does", async () => {
  for (const behaviour of ["pass", "request", "answer", "response", "mend", "rename"]) {
    await expectAlike(async (client) => {
      const log: unknown[] = [];
      const hooks = (name: string): Middleware => ({
        async onRequest({ request, schemaPath, params, options, id, ...rest }) {
          const { fetch, querySerializer, bodySerializer, pathSerializer, parseAs: _, ...others } =
            options;
          const functions = [fetch, querySerializer, bodySerializer, pathSerializer];
          log.push(name, schemaPath, params, others, functions.map((each) => typeof each));
          log.push(request.method, request.url, typeof id, await request.clone().text(), rest);
          if (name === "b" && behaviour === "answer") return Response.json({ by: name });
          return name === "b" && behaviour === "request"
            ? new Request(`${request.url}/more`, request)
            : undefined;
        },
        async onResponse({ request, response }) {
          log.push(name, request.url, response.status, await response.clone().json());
          return name === "b" && behaviour === "response"
            ? Response.json({ by: name }, { status: 201 })
            : undefined;
        },
        onError({ error }) {
          log.push(name, error instanceof Error);
          if (name === "c" && behaviour === "rename") return new RangeError("renamed");
          return name === "b" && behaviour === "mend" ? Response.json({ by: name }) : undefined;
        },
      });
      const failing = behaviour === "mend" || behaviour === "rename";
      const fetch = failing && { fetch: () => Promise.reject(new Error("boom")) };
      const ejected = hooks("x");
      const twice = hooks("y");
      client.use(hooks("a"), ejected, undefined as never, null as never, hooks("b"));
      client.eject(ejected, hooks("never used"));
      client.use(twice, twice);
      client.eject(twice);
      const body = { c: 1 };
      const init = {
        ...fetch,
        body,
        middleware: [null, hooks("c"), undefined],
        params: { path: { id: 5 } },
      };
      try {
        const { response } = await client.POST("/a/{id}", { ...init, retries: 0 } as never);
        return { data: log, response };
      } catch (error) {
        return { data: [...log, `${error}`], response: new Response() };
      }
    });
  }
});
