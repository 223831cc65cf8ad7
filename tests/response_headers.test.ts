// Headers that Node.js's parser accepts and Headers refuses, and headers that echo the key.
import { expect } from "@std/expect";

import { createClient, HttpError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, isDeno } from "./client.ts";
import { createClock } from "./clock.ts";
import { caught, failure, shown } from "./outcome.ts";
import { type AnyPath, serveBytes } from "./server.ts";

Deno.test("methods report a status when Headers refuses a header of the response", async () => {
  await using server = await serveBytes((socket, count) => {
    socket.end(
      `HTTP/1.1 ${count % 2 ? 503 : 401} No\r\nConnection: close\r\nContent-Length: 2\r\n` +
        `Unknown key ${apiKey}: x\r\nX-Other: y\r\n\r\n[]`,
    );
  });
  const statuses: unknown[] = [];
  const client = createClientWith<AnyPath>({
    baseUrl: server.url,
    apiKey,
    onRetry: ({ error }) => statuses.push((error as HttpError).status ?? error.code),
  }, createClock());
  const calls = [
    () => client.call("GET", "report"),
    () => client.checkKey(),
    async () => {
      const { error, response } = await client.GET("/report");
      expect([error, response.status]).toEqual([[], 401]);
      throw new HttpError("", { status: response.status, headers: response.headers, body: error });
    },
  ];
  for (const call of calls) {
    const error = await caught(call()) as HttpError;
    if (isDeno) { // whose parser refuses such a response
      expect(error.message).toMatch(/got no response: .*invalid HTTP header parsed/);
      continue;
    }
    expect(error).toBeInstanceOf(HttpError);
    expect([error.status, error.body, error.headers.get("x-other")]).toEqual([401, [], "y"]);
    expect(statuses.splice(0)).toEqual([503]);
    expect(shown(error)).not.toContain(apiKey);
  }
});

Deno.test("HttpError has no header whose name contains the key", async () => {
  const key = "Key-Of-The-Client";
  await using server = await serveBytes((socket) => {
    const names = `Connection: close\r\n${key}: a\r\nX-${key}: b\r\nX-Other: ${key}\r\n`;
    socket.end(`HTTP/1.1 401 No\r\nContent-Length: 2\r\n${names}\r\n[]`);
  });
  const client = createClient({ baseUrl: server.url, apiKey: key });
  const error = await failure(HttpError, client.call("GET", "report"));
  expect(error.headers.get("x-other")).toBe("[redacted]");
  expect([...error.headers.keys()].sort()).toEqual(["connection", "content-length", "x-other"]);
  expect(shown(error).toLowerCase()).not.toContain(key.toLowerCase());
});
