// A real page that uses the client with a served sandbox on another origin.
import { expect } from "@std/expect";
import { build, stop } from "esbuild";
import { fileURLToPath } from "node:url";
import { chromium, openPage, skipped } from "../../scripts/support/chromium.ts";
import { makeFolder } from "../../scripts/support/files.ts";
import { run } from "../../scripts/support/process.ts";
import { createSandbox } from "../../src/sandbox/service.ts";
import { type SandboxResponse, serveSandbox } from "../../src/sandbox/server.ts";

const TIME_LIMIT = 60_000;

/** Bundles page.ts for browsers. */
async function bundle(sandbox: string): Promise<string> {
  try {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(import.meta.resolve("./page.ts"))],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      define: { SANDBOX: JSON.stringify(sandbox) },
      alias: { "openapi-fetch": fileURLToPath(import.meta.resolve("openapi-fetch")) },
    });
    return outputFiles[0]!.text;
  } finally {
    await stop();
  }
}

/** Serves the page; `results` resolves to what the page posts. */
function servePage(script: string) {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/results") resolve(await request.json());
    const [type, body] = pathname === "/page.js"
      ? ["text/javascript", script]
      : ["text/html", '<!doctype html><script type="module" src="page.js"></script>'];
    return new Response(body, { headers: { "Content-Type": `${type}; charset=utf-8` } });
  });
  return { server, origin: `http://127.0.0.1:${server.addr.port}`, results: promise };
}

/** Opens a page in Chromium until the results are there. */
async function browse<T>(url: string, results: Promise<T>): Promise<T> {
  await using profile = await makeFolder();
  const killer = new AbortController();
  const timer = setTimeout(() => killer.abort(), TIME_LIMIT);
  const ended = run(chromium!, openPage(url, profile.path), { signal: killer.signal })
    .then(({ output }) => {
      throw new Error(`Chromium ended without results\n${output}`);
    });
  try {
    return await Promise.race([results, ended]);
  } finally {
    clearTimeout(timer);
    killer.abort();
    await ended.catch(() => {});
  }
}

Deno.test({
  name:
    `a page on another origin checks a key and calls endpoints through serveSandbox()${skipped}`,
  ignore: !chromium,
  async fn() {
    const sandbox = createSandbox({
      routes: {
        "PUT reports/{id}": async (request, { params }) => [params["id"], await request.json()],
        "GET busy": () =>
          Response.json({ error: "Busy" }, {
            status: 429,
            headers: { "Retry-After": "7", "X-Sandbox": "seen" },
          }),
      },
    });
    const responses: SandboxResponse[] = [];
    await using server = await serveSandbox(sandbox, { onResponse: (it) => responses.push(it) });
    const page = servePage(await bundle(server.url));
    await using _ = page.server;
    expect(await browse(page.origin, page.results)).toEqual([
      page.origin,
      { apiKeyValid: true, data: { credits: 100 } },
      { apiKeyValid: false },
      ["7", { a: 1 }],
      { status: 429, retryAfter: 7, exposed: "seen" },
    ]);
    const preflights = responses.filter(({ method }) => method === "OPTIONS");
    expect(new Set(preflights.map(({ status }) => status))).toEqual(new Set([204]));
  },
});
