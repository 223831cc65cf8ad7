import { expect } from "@std/expect";

import {
  createClient,
  HttpError,
  InvalidResponseError,
  type Middleware,
  ScamAddressError,
} from "../mod.ts";
import {
  apiKey,
  baseUrl,
  checkKeyPath,
  sendAll,
  testBothWays,
  undocumented,
  unusedFetch,
} from "./support/client.ts";
import { caught, rejections, shown } from "./support/rejection.ts";
import { type AnyPath, checkKeyStatus, json, serve, validKey } from "./support/server.ts";

const path = `/${undocumented}`;
const boom = new RangeError("boom");

Deno.test("methods reject with what middleware throws, whatever it is", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const { stack } = boom;
  for (const thrown of [boom, "boom", { code: 7 }]) {
    const hook = () => {
      throw thrown;
    };
    const hooks: Middleware[] = [{ onRequest: hook }, { onResponse: hook }, { onError: hook }];
    for (const middleware of hooks) {
      const fetch = middleware.onError ? () => Promise.reject() : undefined;
      const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, fetch, retries: 0 });
      client.use(middleware);
      const calls = [client.checkKey("some-key"), ...sendAll(client)];
      for (const error of await Promise.all(calls.map(caught))) expect(error).toBe(thrown);
    }
  }
  expect(boom.stack).toBe(stack); // which is where the caller's code threw it
});

Deno.test("middleware does not see the key", async () => {
  await using server = await serve((_, response) => json(response, validKey, checkKeyStatus));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const seen: unknown[] = [];
  client.use({
    onRequest: ({ request, options, params }) => void seen.push(request, options, params),
    onResponse: ({ request, response }) => void seen.push(request, response),
  });
  await client.call("GET", undocumented);
  await client.GET(path);
  await client.checkKey("another-key");
  expect(seen.length).toBe(15);
  expect(shown(seen)).not.toContain(apiKey);
});

// Responses that middleware makes are checked like the service's, without its limits

const hooks = ["onRequest", "onResponse", "onError"] as const;

for (const hook of hooks) {
  /** Creates a client whose middleware makes the response. */
  const createMaking = (make: () => Response) => {
    const fetch = () => hook === "onError" ? Promise.reject() : Promise.resolve(Response.json([]));
    const client = createClient<AnyPath>({
      baseUrl,
      apiKey,
      fetch: hook === "onRequest" ? unusedFetch : fetch,
      retries: 0,
      maxResponseBytes: 10, // less than they have
    });
    client.use({ [hook]: make } as unknown as Middleware);
    return client;
  };

  Deno.test(`methods check a response that ${hook} makes`, async () => {
    const valid = createMaking(() => Response.json(validKey, { status: checkKeyStatus }));
    expect(await valid.checkOwnKey()).toEqual(validKey);
    expect((await valid.call("GET", undocumented)).data).toEqual(validKey);
    expect((await valid.POST(checkKeyPath, { body: { apiKey } })).data).toEqual(validKey);
    const notJson = createMaking(() => new Response("<h1>"));
    await rejections(InvalidResponseError, sendAll(notJson));
    const other = createMaking(() => Response.json({ other: 1 }, { status: checkKeyStatus }));
    const calls = [other.checkOwnKey(), other.POST(checkKeyPath, { body: { apiKey } })];
    for (const { issues, response } of await rejections(InvalidResponseError, calls)) {
      expect(issues).toMatchObject([{ rule: "required" }]);
      expect(response.body).toEqual({ other: 1 });
    }
    expect((await other.call("GET", undocumented)).data).toEqual({ other: 1 });
    for (const status of [304, 404, 500]) {
      const body = status === 304 ? null : '{"no":1}';
      const failing = createMaking(() => new Response(body, { status, headers: { "x-a": "b" } }));
      const expected = body === null ? "" : { no: 1 };
      const calls = [failing.checkOwnKey(), failing.call("GET", undocumented)];
      for (const error of await rejections(HttpError, calls)) {
        expect(error.response).toMatchObject({ status, body: expected });
        expect(error.response.headers.get("x-a")).toBe("b");
      }
      const { error, response } = await failing.GET(path);
      expect([response.status, error]).toEqual([status, expected]);
    }
  });

  Deno.test(`methods reject with what a body that ${hook} makes fails with`, async () => {
    const client = createMaking(() =>
      new Response(new ReadableStream({ pull: () => Promise.reject(boom) }))
    );
    for (const error of await Promise.all(sendAll(client).map(caught))) expect(error).toBe(boom);
  });
}

Deno.test("middleware of one call, or left after eject(), can read the response", async () => {
  await using server = await serve((_, response) => json(response, [1]));
  const read: unknown[] = [];
  const reading: Middleware = {
    async onResponse({ response }) {
      read.push(await response.clone().json(), await response.json());
      return Response.json("own");
    },
  };
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  expect((await client.GET(path, { middleware: [reading] })).data).toBe("own");
  const ejected = { onResponse() {} };
  client.use(ejected, reading);
  client.eject(ejected);
  expect((await client.GET(path)).data).toBe("own");
  expect(read).toEqual([[1], [1], [1], [1]]);
});

testBothWays("methods send nothing when middleware has read the request's body", async (create) => {
  await using server = await serve((_, response) => json(response, validKey));
  const client = create({ baseUrl: server.url, apiKey });
  client.use({
    async onRequest({ request }) {
      const reader = request.body!.getReader();
      await reader.read(); // the rest would be sent
      reader.releaseLock();
    },
  });
  for (const signal of [null, new AbortController().signal]) {
    const calls = [client.checkOwnKey({ signal }), client.POST(path, { body: {}, signal })];
    for (const error of await rejections(TypeError, calls)) {
      expect(error instanceof ScamAddressError).toBe(false);
    }
  }
  expect(server.requests).toEqual([]);
});
