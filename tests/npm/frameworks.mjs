/** The errors that nobody catches in a web framework, which the argument names. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import process from "node:process";
import { createClient } from "@scam-address/client";

const apiKey = "key-of-the-client";

/** Starts a server on a port of its own; resolves to its address. */
async function listen(server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${server.address().port}/`;
}

const headers = {
  "set-cookie": ["session=of-the-service", "other=of-the-service; Path=/"],
  "x-request-key": apiKey,
  "x-odd!#$%&'*+.^_`|~": "of-the-service-\u00e4",
  "retry-after": "7",
  "location": "https://of-the-service.example/",
};
const service = createServer((request, response) => {
  const path = request.url.slice(1);
  if (path === "reset") request.socket.destroy();
  else if (path !== "hang") {
    response.writeHead(Number(path), headers).end(`of-the-service ${apiKey}`);
  }
});
const serviceUrl = await listen(service);

/** How the service responds for each error. */
const PATHS = {
  NetworkError: ["reset"],
  TimeoutError: ["hang"],
  RedirectError: ["302"],
  InvalidResponseError: ["200"],
  HttpError: ["304", "400", "401", "403", "404", "429", "503", "599"],
  ConfigurationError: ["wrong"],
};

/** Handles a request of a visitor. */
async function handle(path) {
  if (path === "/alive") return "yes";
  const timeout = path === "/hang" ? 50 : 30_000;
  const client = createClient({ baseUrl: serviceUrl, apiKey, retries: 0, timeout });
  await client.call("GET", path === "/wrong" ? "../a" : path.slice(1));
}

/** Makes the server of each framework. */
const frameworks = {
  koa: async (name) => {
    const { default: Koa } = await import(name);
    const app = new Koa();
    app.use(async (context) => context.body = await handle(context.path));
    return createServer(app.callback());
  },
  express: async (name) => {
    const { default: express } = await import(name);
    const app = express();
    app.use(async (request, response) => response.send(await handle(request.path)));
    return createServer(app);
  },
  fastify: async (name) => {
    const { default: fastify } = await import(name);
    const app = fastify();
    app.get("/*", (request) => handle(request.url));
    await app.ready();
    return app.server;
  },
};

const name = process.argv[2];
const url = await listen(await frameworks[name.replace(/\d$/, "")](name));
// Fastify sends the message, which has the addresses of the service and of a redirect.
const hidden = name.startsWith("fastify")
  ? /of-the-service(?!\.example)|key-of-the-client/
  : /of-the-service|key-of-the-client|127\.0\.0\.1/;
for (const [error, paths] of Object.entries(PATHS)) {
  for (const path of paths) {
    assert.equal((await handle(`/${path}`).catch((thrown) => thrown)).name, error);
    const response = await fetch(url + path);
    const text = await response.text();
    assert.equal(response.status, 500, `${path}: ${text}`);
    for (const name of Object.keys(headers)) assert.ok(!response.headers.has(name), name);
    assert.doesNotMatch(`${[...response.headers]} ${text}`, hidden, path);
    assert.equal(await (await fetch(`${url}alive`)).text(), "yes");
  }
}
process.exit();
