// Tools that wrap the global `fetch`: they clone a request, rebuild it, or look at one argument only.
import { expect } from "@std/expect";

import { createClient, HttpError } from "../mod.ts";
import { apiKey, keyHeader, replaceFetch } from "./support/client.ts";
import { rejection } from "./support/rejection.ts";
import { json, serve } from "./support/server.ts";
import { replaceWaiting } from "./support/waiting.ts";

type Wrap = (original: typeof fetch) => typeof fetch;

const wrappers: Record<string, Wrap> = {
  "clones a request and reads the clone": (original) => async (input, init) => {
    const request = input instanceof Request ? input : new Request(input, init);
    await request.clone().text();
    return await original(input, init);
  },
  "makes a request of its arguments": (original) => (input, init) =>
    original(new Request(input, init)),
  "reads only a request": (original) => async (input, init) => {
    if (!(input instanceof Request)) return await original(input, init);
    const { method, headers } = input;
    const body = method === "GET" ? null : await input.clone().text();
    return await original(input.url, { method, headers, body });
  },
  "drops the options beside a request": (original) => (input, init) =>
    input instanceof Request ? original(input) : original(input, init),
  "spreads the options and adds a header": (original) => (input, init) => {
    (init!.headers as Headers).append("x-trace", "1");
    return original(input, { ...init });
  },
  "parses the body": (original) => (input, init) => {
    if (init?.method === "POST") JSON.parse(init.body as string);
    return original(input, init);
  },
};

for (const [name, wrap] of Object.entries(wrappers)) {
  Deno.test(`calls survive a global fetch that ${name}`, async () => {
    const statuses = [401, 200, 503, 200];
    await using server = await serve((_, response, count) =>
      json(response, [], statuses[count - 1])
    );
    using _fetch = replaceFetch(wrap);
    using _waiting = replaceWaiting();
    const client = createClient({ baseUrl: server.url, apiKey });

    const body = { text: "é" };
    const { response } = await rejection(HttpError, client.call("POST", "report", { body }));
    expect([response.status, response.body]).toEqual([401, []]);
    expect((await client.call("GET", "report", { query: { page: 1 } })).data).toEqual([]);
    await client.call("POST", "report", { body, idempotent: true });

    const text = JSON.stringify(body);
    expect(server.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ["POST", "/report", text],
      ["GET", "/report?page=1", ""],
      ["POST", "/report", text],
      ["POST", "/report", text], // after the 503
    ]);
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({
        [keyHeader]: apiKey,
        "content-type": "application/json",
        accept: "application/json",
      });
      expect(headers["x-trace"] ?? "1").toBe("1"); // not "1, 1" after a retry
    }
  });
}
