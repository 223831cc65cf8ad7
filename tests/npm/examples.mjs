/**
 * Uses the examples in README.md and RECIPES.md that are to be imported, where `test:npm` has compiled
 * them. It prints what the examples do, as JSON, for `test:npm` to judge.
 */

import { createClient, NetworkError } from "@scam-address/client";
import { createSandbox } from "@scam-address/client/sandbox";
import { serveSandbox } from "@scam-address/client/sandbox/server";
import { once } from "node:events";
import process from "node:process";

// Imported when they are used, because `deno check` looks for what a module imports at its head.
const { setupServer } = await import("msw/node");
const { handler } = await import("./msw.js");
const mocked = setupServer(handler);
mocked.listen({ onUnhandledRequest: "error" });
const client = createClient({ baseUrl: "https://service.example/" });
console.log(JSON.stringify(await client.checkKey("demo-key")));
mocked.close();

const { logger } = await import("./pino.js");
logger.error({ err: new NetworkError("The service is down", {}) });
logger.error({ err: new RangeError("Another error") });
logger.error({ err: null });

const { app } = await import("./server.js");
app.get("/broken", (request, response) => {
  request.log.error({ err: null });
  response.err = new NetworkError("The service is down", {});
  response.status(500).end();
});
// The service responds about a slow key only when its caller is gone. So a visitor with such a key
// leaves as soon as the service has been asked, and `left` shows that the handler has ended its call.
const leaving = new AbortController();
let leave;
const left = new Promise((resolve) => leave = resolve);
const service = await serveSandbox(createSandbox({
  routes: {
    async "POST checkKey"(request) {
      if (!(await request.text()).includes("slow")) return { apiKeyValid: false };
      request.signal.addEventListener("abort", leave);
      leaving.abort();
      await left;
    },
  },
}));
process.env["SCAM_ADDRESS_BASE_URL"] = service.url;
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${server.address().port}`;
const ask = (path, key, signal = null) =>
  fetch(url + path, { headers: { "x-key": key }, signal })
    .then(async (response) => [response.status, await response.text()], () => "left");
await ask("/broken", "key-of-a-visitor");
const asked = [await ask("/status", "key-of-a-visitor"), await ask("/status", "")];
asked.push(await ask("/status", "key-of-a-visitor-\u00e9"));
asked.push(await ask("/status", "slow-key-of-a-visitor", leaving.signal));
await left;
await service.close();
asked.push(await ask("/status", "another-key-of-a-visitor"));
server.close();
await once(server, "close");
console.log(JSON.stringify({ asked }));
