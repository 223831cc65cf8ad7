import { expect } from "@std/expect";

import {
  ConfigurationError,
  createClient,
  InvalidResponseError,
  type Middleware,
  NetworkError,
} from "../mod.ts";
import { apiKey, baseUrl, sendAll } from "./client.ts";
import { caught, failure } from "./outcome.ts";
import { type AnyPath, json, serve, validKey } from "./server.ts";

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
