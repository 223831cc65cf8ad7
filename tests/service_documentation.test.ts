// The service's contract: one test for each rule of its document, named after the section.
import { expect } from "@std/expect";
import { createClient, type KeyStatus } from "../mod.ts";
import { keyHeader } from "./support/client.ts";
import { apiKeyHeader } from "./support/internals.ts";
import { json, type Recorded, serve, serveValid, validKey } from "./support/server.ts";

function only<T>(items: T[]): T {
  expect(items).toHaveLength(1);
  return items[0]!;
}

/** Sends one `checkKey` to a server that responds with a body. */
async function checkKey(body: unknown): Promise<[KeyStatus, Recorded]> {
  await using server = await serve((_, response) => json(response, body));
  const client = createClient({ baseUrl: server.url, apiKey: "client-key" });
  return [await client.checkKey("some-key"), only(server.requests)];
}

/** Asserts that `checkKey()` refuses the status of a valid key with other fields. */
async function expectRefused(fields: object): Promise<void> {
  await expect(checkKey({ ...validKey, ...fields })).rejects.toMatchObject({
    code: "invalid_response",
  });
}

Deno.test("section 2: apiKeyValid is a boolean, and no other type is accepted", async () => {
  for (const apiKeyValid of [1, "true", null, undefined]) {
    await expectRefused({ apiKeyValid });
  }
});

Deno.test("section 2: credits are any whole number, and nothing else is accepted", async () => {
  for (const credits of [0, -1, Number.MAX_SAFE_INTEGER]) {
    const status = { ...validKey, data: { ...validKey.data, credits } };
    expect((await checkKey(status))[0]).toEqual(status);
  }
  for (const credits of [0.5, "10", null, undefined]) {
    await expectRefused({ data: { ...validKey.data, credits } });
  }
});

Deno.test("section 4: an address is the base URL directly followed by the endpoint's name", async () => {
  await using server = await serveValid();
  const { url } = server;
  for (const baseUrl of [url, `${url}api/`, `${url}api`, new URL("a/b.c/%20d", url)]) {
    const client = createClient({ baseUrl, apiKey: "some-key" });
    await client.checkOwnKey();
    await client.POST("/checkKey", { body: { apiKey: "some-key" } });
    await client.call("GET", "endpoint");
    await client.call("GET", "end/point");
    const prefix = new URL(baseUrl).pathname.replace(/\/?$/, "/");
    expect(server.requests.splice(0).map(({ url }) => url))
      .toEqual(["checkKey", "checkKey", "endpoint", "end/point"].map((name) => prefix + name));
  }
});

Deno.test("section 4: checkKey is a POST of exactly the key as JSON", async () => {
  const [, request] = await checkKey(validKey);
  expect(request.method).toBe("POST");
  expect(request.url).toBe("/checkKey");
  expect(request.headers["content-type"]).toBe("application/json");
  expect(request.body).toBe('{"apiKey":"some-key"}');
});

Deno.test("section 4: checkKey needs no authentication and sends no header with the key", async () => {
  await using server = await serveValid();
  const headers = { [apiKeyHeader]: "from-headers", "x-other": "kept" };
  const client = createClient({ baseUrl: server.url, apiKey: "client-key", headers });
  await client.checkOwnKey();
  await client.checkKey("some-key");
  await client.POST("/checkKey", { body: { apiKey: "some-key" }, headers });
  client.use({ onRequest: ({ request }) => request.headers.set(apiKeyHeader, "from-middleware") });
  await client.checkOwnKey();
  expect(server.requests).toHaveLength(4);
  for (const { headers } of server.requests) {
    expect(headers).not.toHaveProperty(keyHeader);
    expect(headers["x-other"]).toBe("kept");
    expect(headers["content-type"]).toBe("application/json");
  }
});

Deno.test("section 4, rule 1: a valid key has credits, and unknown fields are accepted", async () => {
  const status = { ...validKey, data: { ...validKey.data, x: "y" }, more: [1] };
  expect((await checkKey(status))[0]).toEqual(status);
  for (const data of [undefined, null, [], {}, 7]) {
    await expectRefused({ data });
  }
});

Deno.test("sections 3 and 4, rule 2: a response for a key that is not valid may have any other fields", async () => {
  const values = [null, {}, { credits: 0 }, "none"];
  for (const rest of [{}, { message: "No such key" }, ...values.map((data) => ({ data }))]) {
    const status = { apiKeyValid: false, ...rest };
    expect((await checkKey(status))[0]).toEqual(status);
  }
});

Deno.test("section 4: which success status checkKey has is not shown, so any is read", async () => {
  for (const status of [200, 201, 202, 203, 299]) {
    await using server = await serve((_, response) => json(response, validKey, status));
    expect(await createClient({ baseUrl: server.url }).checkKey("some-key")).toEqual(validKey);
  }
});

Deno.test("sections 1 and 4: other endpoints respond with any JSON", async () => {
  await using server = await serve(({ url }, response) => {
    response.end(decodeURIComponent(url.slice(1)));
  });
  const client = createClient({ baseUrl: server.url, apiKey: "some-key" });
  for (const value of [null, false, 0, "", [], {}, { deep: [{ a: 1 }] }]) {
    const endpoint = encodeURIComponent(JSON.stringify(value));
    expect((await client.call("GET", endpoint)).data).toEqual(value);
  }
});

Deno.test("section 5.1: every authenticated request sends the key in X-API-Key", async () => {
  await using server = await serve((_, response) => json(response, []));
  const headers = { [keyHeader]: "from-headers" };
  const client = createClient({ baseUrl: server.url, apiKey: "client-key", headers });
  for (const method of ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] as const) {
    await client.call(method, "endpoint", { headers });
  }
  client.use({ onRequest: ({ request }) => request.headers.delete(keyHeader) });
  await client.call("GET", "endpoint");
  expect(server.requests).toHaveLength(8);
  for (const { headers } of server.requests) expect(headers["x-api-key"]).toBe("client-key");
});

Deno.test("section 5.2: authenticated requests send Content-Type, with and without a body", async () => {
  await using server = await serve((_, response) => json(response, []));
  const client = createClient({ baseUrl: server.url, apiKey: "some-key" });
  await client.call("GET", "endpoint");
  await client.call("POST", "endpoint");
  await client.call("POST", "endpoint", { body: { list: [1, "é", null] } });
  client.use({ onRequest: ({ request: { url, method } }) => new Request(url, { method }) });
  await client.call("GET", "endpoint");
  expect(server.requests.map(({ headers, body }) => [headers["content-type"], body]))
    .toEqual(["", "", '{"list":[1,"é",null]}', ""].map((body) => ["application/json", body]));
});
