// How the body of a 2xx response is read; http_error.test.ts reads those of errors.
import { expect } from "@std/expect";

import { createClient, HttpError, InvalidResponseError } from "../mod.ts";
import { apiKey } from "./client.ts";
import { failure } from "./outcome.ts";
import { type AnyPath, json, serve, serveBytes, validKey } from "./server.ts";

const marker = "text-of-the-body";

/** Bodies that are not the status of a key, and the path and the rule that say why. */
const invalidBodies: [string, string | null, string, string][] = [
  ["HTML", `<!doctype html><title>${marker}</title>`, "", "json"],
  ["JSON that is cut off", `{"apiKeyValid":true,"data":{"${marker}":1`, "", "json"],
  ["two values", `{"apiKeyValid":false} "${marker}"`, "", "json"],
  ["an empty body", "", "", "empty"],
  ["no content", null, "", "empty"],
  ["white space", " \n", "", "json"],
  ["null", "null", "", "type"],
  ["an array", `["${marker}"]`, "", "type"],
  ["a string", `"${marker}"`, "", "type"],
  ["a number", "1", "", "type"],
  ["an empty object", "{}", "/apiKeyValid", "required"],
  ["a wrong type of apiKeyValid", `{"apiKeyValid":"true","data":{}}`, "/apiKeyValid", "const"],
  ["apiKeyValid null", `{"apiKeyValid":null,"data":{"credits":1}}`, "/apiKeyValid", "const"],
  ["a valid key without data", `{"apiKeyValid":true}`, "/data", "required"],
  ["a valid key with data null", `{"apiKeyValid":true,"data":null}`, "/data", "type"],
  ["an array as data", `{"apiKeyValid":true,"data":["${marker}"]}`, "/data", "type"],
  ["no credits", `{"apiKeyValid":true,"data":{"x":"${marker}"}}`, "/data/credits", "required"],
  [
    "credits as a string",
    `{"apiKeyValid":true,"data":{"credits":"${marker}"}}`,
    "/data/credits",
    "type",
  ],
  ["fractional credits", `{"apiKeyValid":true,"data":{"credits":1.5}}`, "/data/credits", "type"],
  ["infinite credits", `{"apiKeyValid":true,"data":{"credits":1e999}}`, "/data/credits", "type"],
  [
    "its fields below __proto__",
    `{"__proto__":{"apiKeyValid":true,"data":{"credits":1}}}`,
    "/apiKeyValid",
    "required",
  ],
];

for (const [kind, body, path, rule] of invalidBodies) {
  Deno.test(`checkKey() refuses ${kind}`, async () => {
    const status = body === null ? 204 : 200;
    await using server = await serve((_, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(body ?? undefined);
    });
    const client = createClient({ baseUrl: server.url });
    const post = () => client.POST("/checkKey", { body: { apiKey: "k" } });
    for (const call of [() => client.checkKey("k"), post]) {
      const error = await failure(InvalidResponseError, call);
      expect(error.code).toBe("invalid_response");
      expect(error.status).toBe(status);
      expect(error.issues).toEqual([{ path, rule }]);
      expect(`${error.message}${error.stack}${error.cause}`).not.toContain(marker);
    }
    expect(server.requests.length).toBe(2); // an invalid response is not retried
  });
}

const validJson = JSON.stringify(validKey);
const validBodies: [string, string, string | undefined][] = [
  ["with a byte-order mark", `\ufeff${validJson}`, "application/json"],
  ["labelled text/plain", validJson, "text/plain"],
  ["labelled text/html", validJson, "text/html; charset=iso-8859-1"],
  ["without a label", ` \n${validJson}\r\n`, undefined],
  ["with credits as 1e2", `{"apiKeyValid":true,"data":{"credits":1e2}}`, undefined],
  [
    "with unknown fields",
    `{"apiKeyValid":true,"data":{"credits":0,"plan":"x"},"note":[1,null]}`,
    "application/json",
  ],
];

for (const [kind, body, contentType] of validBodies) {
  Deno.test(`checkKey() reads JSON ${kind}`, async () => {
    await using server = await serve((_, response) => {
      if (contentType) response.setHeader("content-type", contentType);
      response.end(body);
    });
    const status = await createClient({ baseUrl: server.url }).checkKey("key");
    expect(status).toEqual(JSON.parse(body.replace("\ufeff", "")));
  });
}

Deno.test("checkKey() reads JSON that comes byte by byte", async () => {
  const status = { ...validKey, note: "größer als €100 – 😀" };
  await using server = await serve(async (_, response) => {
    for (const byte of new TextEncoder().encode(JSON.stringify(status))) {
      response.write(Uint8Array.of(byte));
      await new Promise((resolve) => setTimeout(resolve));
    }
    response.end();
  });
  expect(await createClient({ baseUrl: server.url }).checkKey("key")).toEqual(status);
});

Deno.test("methods change no prototype when JSON has __proto__", async () => {
  const pollution = `"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}`;
  await using server = await serve(({ url }, response) => {
    response.statusCode = url === "/checkKey" ? 200 : 400;
    response.end(
      `{"apiKeyValid":true,"data":{"credits":1,${pollution}},"key":"${apiKey}",${pollution}}`,
    );
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const status: unknown = await client.checkKey();
  const { body } = await failure(HttpError, client.call("GET", "report"));
  const { error } = await client.GET("/report");
  for (const value of [status, body, error, {}] as Record<string, unknown>[]) {
    expect(value["polluted"]).toBe(undefined);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  }
});

Deno.test("GET() returns a body in the form that parseAs names", async () => {
  await using server = await serve((_, response) => json(response, [1]));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  const get = async (parseAs: "json" | "text" | "blob" | "arrayBuffer" | "stream") =>
    (await client.GET("/a", { parseAs })).data as unknown;
  expect(await get("json")).toEqual([1]);
  expect(await get("text")).toBe("[1]");
  expect(await (await get("blob") as Blob).text()).toBe("[1]");
  expect(new TextDecoder().decode(await get("arrayBuffer") as ArrayBuffer)).toBe("[1]");
  expect(await new Response(await get("stream") as ReadableStream).text()).toBe("[1]");
});

// Statuses with and without content

for (const status of [200, 201, 202, 204, 205]) {
  Deno.test(`methods take ${status} without content as a success`, async () => {
    await using server = await serve((_, response) => void response.writeHead(status).end());
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    expect(await client.call("POST", "report", { body: {} })).toBe(undefined);
    const { data, response } = await client.GET("/report");
    expect(data).toBe(undefined);
    expect(response.status).toBe(status);
    client.use({ onResponse: ({ response }) => response });
    expect(await client.call("GET", "report")).toBe(undefined);
  });

  Deno.test(`methods take ${status} with the length 0 as a success`, async () => {
    await using server = await serve((_, response) => {
      response.writeHead(status, { "content-length": "0" }).end();
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
    expect(await client.call("GET", "report")).toBe(undefined);
    for (const parseAs of ["json", "text", "stream"] as const) {
      expect((await client.GET("/report", { parseAs })).data).toBe(undefined);
    }
  });

  const action = status < 204 ? "returns" : "drops"; // as HTTP has no content with 204 and 205
  Deno.test(`call() ${action} the content of a response with ${status}`, async () => {
    await using server = await serveBytes((socket) => {
      socket.end(`HTTP/1.1 ${status} OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n42`);
    });
    const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, retries: 0 });
    const expected = status < 204 ? 42 : undefined;
    expect(await client.call("GET", "report")).toBe(expected);
    client.use({ onResponse: ({ response }) => response });
    expect(await client.call("GET", "report")).toBe(expected);
    expect((await client.GET("/report")).data).toBe(expected);
  });
}

Deno.test("HEAD() and call() take a response to HEAD, which has no body", async () => {
  await using server = await serve(({ url }, response) => {
    response.writeHead(url === "/missing" ? 404 : 200, { "content-length": "100" }).end();
  });
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  expect(await client.call("HEAD", "report")).toBe(undefined);
  for (const { data, response } of [await client.HEAD("/a"), await client.request("head", "/a")]) {
    expect(data).toBe(undefined);
    expect(response.headers.get("content-length")).toBe("100");
  }
  const error = await failure(HttpError, client.call("HEAD", "missing"));
  expect(error.body).toBe("");
});
