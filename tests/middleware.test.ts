import { expect } from "@std/expect";

import {
  ConfigurationError,
  createClient,
  HttpError,
  InvalidResponseError,
  type Middleware,
  NetworkError,
  RedirectError,
  TimeoutError,
} from "../mod.ts";
import { apiKey, baseUrl, sendAll, unusedFetch } from "./client.ts";
import { caught, failure, failures } from "./outcome.ts";
import { type AnyPath, json, serve, validKey } from "./server.ts";
import { endlessBody } from "./streams.ts";

Deno.test("middleware can make the response, replace it, and replace an error", async () => {
  await using server = await serve((_, response) => json(response, ["service"]));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  const get = (middleware: Middleware, fetch?: () => Promise<Response>) =>
    client.GET("/a", { middleware: [middleware], ...fetch && { fetch } });
  const respond = { onRequest: () => Response.json(["middleware"]) };
  expect((await get(respond)).data).toEqual(["middleware"]);
  expect(server.requests).toEqual([]);
  const replaced = await get({ onResponse: () => Response.json(["replaced"], { status: 201 }) });
  expect(replaced.data).toEqual(["replaced"]);
  expect(replaced.response.status).toBe(201);
  const recover: Middleware = {
    onError({ error }) {
      expect(error).toBeInstanceOf(NetworkError);
      return Response.json(["recovered"]);
    },
  };
  expect((await get(recover, () => Promise.reject(new Error("boom")))).data).toEqual(["recovered"]);
  const renamed = new RangeError("renamed");
  const rename = { onError: () => renamed };
  expect(await caught(get(rename, () => Promise.reject(new Error("boom"))))).toBe(renamed);
  const failed = await get({ onResponse: () => Response.json(["no"], { status: 500 }) });
  expect(failed.error).toEqual(["no"]);
  const wrong = { onResponse: () => new Response("<h1>") };
  await failure(InvalidResponseError, get(wrong));
  client.use(wrong);
  await failure(InvalidResponseError, client.checkKey());
});

Deno.test("methods reject with what middleware throws", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const boom = new RangeError("boom");
  const hook = () => {
    throw boom;
  };
  for (const middleware of [{ onRequest: hook }, { onResponse: hook }]) {
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    client.use(middleware);
    expect(await Promise.all(sendAll(client).map(caught))).toEqual([boom, boom, boom]);
    client.eject(middleware);
    expect(await client.checkKey()).toEqual(validKey);
  }
});

Deno.test("use() refuses what is not middleware", async () => {
  const client = createClient({ baseUrl });
  for (const middleware of ["onRequest", 7, () => {}, {}, { onrequest() {} }]) {
    const error = await failure(ConfigurationError, () => client.use(middleware as Middleware));
    expect(error.message).toMatch(/^"middleware" must be objects with onRequest, onResponse or/);
    expect(error.option).toBe("middleware");
  }
  client.use(undefined as never); // as openapi-fetch takes it
});

// The bodies of responses

const forms = ["json", "text", "blob", "arrayBuffer", "stream"] as const;

/** What `data` is for `parseAs`, as text. */
async function textOf(data: unknown): Promise<string> {
  if (data instanceof Blob || data instanceof ArrayBuffer || data instanceof ReadableStream) {
    return await new Response(data).text();
  }
  return typeof data === "string" ? data : JSON.stringify(data);
}

/** What middleware may do with the body of a response that it gets. */
const readers: Record<string, (response: Response) => unknown> = {
  "reads it": (response) => response.text(),
  "parses it": (response) => response.json(),
  "reads a clone": (response) => response.clone().text(),
  "makes a clone and leaves it": (response) => response.clone(),
  "locks it": (response) => response.body!.getReader(),
  "reads a part and locks it": (response) => response.body!.getReader().read(),
  "reads a part": async (response) => {
    const reader = response.body!.getReader();
    await reader.read();
    reader.releaseLock();
  },
  "cancels it": (response) => response.body!.cancel(),
};

for (const [kind, read] of Object.entries(readers)) {
  Deno.test(`methods return the whole body when middleware ${kind}`, async () => {
    await using server = await serve(({ url }, response) => {
      json(response, validKey, url === "/checkKey" ? 200 : Number(url.slice(1)));
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
    client.use({ onResponse: async ({ response }) => void await read(response) });
    const text = JSON.stringify(validKey);
    expect(await client.checkKey()).toEqual(validKey);
    expect(await client.call("GET", "200")).toEqual(validKey);
    for (const status of [400, 404, 500]) {
      const error = await failure(HttpError, client.call("GET", `${status}`));
      expect([error.status, error.body]).toEqual([status, validKey]);
    }
    for (const parseAs of forms) {
      expect(await textOf((await client.GET("/201", { parseAs })).data)).toBe(text);
      for (const status of [400, 500]) {
        const { error, response } = await client.GET(`/${status}`, { parseAs });
        expect([response.status, error]).toEqual([status, validKey]);
      }
    }
  });
}

Deno.test("methods return the body of a response that middleware fetches again", async () => {
  await using server = await serve(({ url, headers }, response) => {
    if (headers["x-token"] !== "new") return json(response, "old token", 401);
    json(response, validKey, url === "/again" ? 500 : 200);
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
  client.use({
    async onResponse({ request, response }) {
      if (response.status !== 401) return;
      const headers = { "x-token": "new" };
      return await fetch(request.url, { method: request.method, headers });
    },
  });
  expect(await client.checkKey()).toEqual(validKey);
  expect((await failure(HttpError, client.call("GET", "again"))).body).toEqual(validKey);
  for (const parseAs of forms) {
    const { data } = await client.GET("/report", { parseAs });
    expect(await textOf(data)).toBe(JSON.stringify(validKey));
    expect((await client.GET("/again", { parseAs })).error).toEqual(validKey);
  }
});

/** Calls a service whose response middleware replaces, in all the ways to get a response. */
function callAll(middleware: Middleware, signal?: AbortSignal): Promise<unknown>[] {
  const client = createClient<AnyPath>({
    baseUrl,
    apiKey,
    fetch: () => middleware.onError ? Promise.reject() : Promise.resolve(Response.json([])),
    retries: 0,
    timeout: 200,
    maxResponseBytes: 1_000,
  });
  client.use(middleware);
  const calls = sendAll(client, { signal });
  if (middleware.onRequest) return calls; // other forms are read by openapi-fetch
  return [...calls, ...forms.map((parseAs) => client.GET("/a", { signal: signal!, parseAs }))];
}

const makers: [keyof Middleware, number][] = [
  ["onRequest", 200],
  ...[200, 404, 500].flatMap((status): [keyof Middleware, number][] => [
    ["onResponse", status],
    ["onError", status],
  ]),
];

for (const [hook, status] of makers) {
  /** Makes middleware that responds with a body. */
  const respond = (body: () => BodyInit) =>
    ({ [hook]: () => new Response(body(), { status }) }) as unknown as Middleware;

  Deno.test(`methods bound the time of a response with ${status} that ${hook} returns`, async () => {
    await failures(TimeoutError, callAll(respond(() => new ReadableStream())));
    const drip = () => endlessBody(new Uint8Array(1), 20).body;
    await failures(TimeoutError, callAll(respond(drip)));
    const signal = AbortSignal.timeout(20);
    const errors = await Promise.all(callAll(respond(drip), signal).map(caught));
    expect(errors).toEqual(errors.map(() => signal.reason));
  });

  Deno.test(`methods bound the size of a response with ${status} that ${hook} returns`, async () => {
    const pull = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new Uint8Array(99).fill(65));
    for (const body of [() => new ReadableStream({ pull }), () => "A".repeat(2 ** 20)]) {
      const calls = callAll(respond(body));
      if (status === 200) {
        for (const { issues } of await failures(InvalidResponseError, calls)) {
          expect(issues).toEqual([{ path: "", rule: "maxResponseBytes" }]);
        }
        continue;
      }
      const [checkKey, call, ...methods] = calls;
      for (const { body } of await failures(HttpError, [checkKey!, call!])) {
        expect((body as string).length).toBeLessThanOrEqual(1_001);
      }
      for (const result of await Promise.all(methods)) {
        expect((result as { error: string }).error.length).toBeLessThanOrEqual(1_001);
      }
    }
  });

  Deno.test(`methods name a response with ${status} from ${hook} that cannot be read`, async () => {
    const locked = () => {
      const response = new Response("[]", { status });
      response.body!.getReader();
      return response;
    };
    const middleware = { [hook]: locked } as unknown as Middleware;
    const failing = () => new ReadableStream({ pull: () => Promise.reject(new Error("boom")) });
    const errors = await failures(NetworkError, callAll(middleware));
    if (status === 200) errors.push(...await failures(NetworkError, callAll(respond(failing))));
    for (const { message } of errors) expect(message).toMatch(/got a response that broke off: /);
  });
}

Deno.test("methods read a response that onRequest returns as one of the service", async () => {
  const body = () => new ReadableStream({ start: (stream) => stream.error(new Error("boom")) });
  const used = new Response("[1]", { status: 500 });
  await used.text();
  const cases: [() => Response, new (...fields: never[]) => Error][] = [
    [() => Response.redirect("https://other.example/"), RedirectError],
    [() => Response.error(), NetworkError],
    [() => new Response(body()), NetworkError],
    [() => new Response(endlessBody(new Uint8Array(9), 5).body), InvalidResponseError],
    [() => used, NetworkError],
  ];
  const options = { baseUrl, apiKey, fetch: unusedFetch, retries: 0, maxResponseBytes: 20 };
  for (const [onRequest, errorClass] of cases) {
    const client = createClient<AnyPath>(options);
    const middleware = [{ onRequest }];
    for (const parseAs of ["json", "text"] as const) {
      const call = client.GET("/report", { parseAs, middleware });
      await failure(errorClass as new () => Error, call);
    }
    client.use(...middleware);
    await failure(errorClass as new () => Error, client.call("GET", "report"));
  }
});

Deno.test("a signal ends a call that waits for middleware", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const forever = () => new Promise<undefined>(() => {});
  for (const hook of ["onRequest", "onResponse"]) {
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    client.use({ [hook]: forever } as unknown as Middleware);
    for (const reason of ["stop", 0]) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(reason), 20);
      const calls = sendAll(client, { signal: controller.signal });
      expect(await Promise.all(calls.map(caught))).toEqual([reason, reason, reason]);
    }
  }
});
