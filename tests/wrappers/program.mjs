/**
 * Sends requests with the package that the argument names, and fails unless they arrive as expected.
 * Each package gets a process of its own, because what it changes is global.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { instrumentation } from "./instrumentation.mjs";
import { mocks } from "./mocks.mjs";

const apiKey = "some-api-key";
const type = "application/json";
const data = { apiKeyValid: true, data: { credits: 7 } };
const own = "of the client,of the call";
const expected = [
  { method: "POST", path: "/api/checkKey", key: null, type, own, body: '{"apiKey":"another-key"}' },
  { method: "POST", path: "/api/reports", key: apiKey, type, own, body: '{"name":"Grüße"}' },
  { method: "GET", path: "/api/reports?page=2", key: apiKey, type, own, body: "" },
];

/** The requests that arrived. */
const requests = [];

/** Keeps of a request what is expected of it. */
function record(method, url, init, body) {
  const { pathname, search } = new URL(url);
  const headers = new Headers(init);
  const names = ["X-API-Key", "Content-Type", "X-Client", "X-Call"];
  const [key, type, ...others] = names.map((name) => headers.get(name));
  requests.push({
    method,
    path: pathname + search,
    key,
    type,
    own: others.join(),
    body: body ?? "",
  });
}

/** Creates a client. */
async function createClientAt(url) {
  const { createClient } = await import("@scam-address/client");
  const headers = { "X-Client": "of the client" };
  return createClient({ baseUrl: `${url}/api/`, apiKey, headers, retries: 0 });
}

/** Sends the expected requests with a client that is older than what `start` starts, and with a new one. */
async function callService(url, start) {
  const before = await createClientAt(url);
  const started = await start();
  const headers = { "X-Call": "of the call" };
  for (const client of [before, await createClientAt(url)]) {
    assert.deepEqual(await client.checkKey("another-key", { headers }), data);
    const post = await client.call("POST", "reports", { body: { name: "Grüße" }, headers });
    const get = await client.call("GET", "reports", { query: { page: 2 }, headers });
    assert.deepEqual([post.data, get.data], [data, data]);
  }
  return started;
}

/** Sends the requests to a server, where each must arrive with the header that the package adds. */
async function testInstrumentation(start) {
  const added = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url.startsWith("/api/")) { // Anything else is a report.
      record(request.method, url + request.url, request.headers, body);
      added.push(request.headers);
    }
    response.setHeader("Content-Type", type);
    response.end(JSON.stringify(data));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  const header = await callService(url, () => start(url));
  assert.ok(added.every((headers) => headers[header]), `A request arrived without ${header}`);
}

/** Sends the requests to a mock of an address where no server listens. */
async function testMock(start) {
  const origin = "http://127.0.0.1:8";
  await callService(origin, () => start(origin, record, data));
}

const [name] = process.argv.slice(2);
await (name in mocks ? testMock(mocks[name]) : testInstrumentation(instrumentation[name]));
assert.deepEqual(requests, [...expected, ...expected]);
process.exit(); // Some packages keep the process alive.
