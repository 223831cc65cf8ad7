// The examples of README.md and RECIPES.md that need a server, run as they are printed there.
import { expect } from "@std/expect";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { HttpError } from "../../mod.ts";
import { makeFolder, read, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { bundle } from "../process/support.ts";
import { json, serve, validKey } from "../support/server.ts";

const documents = `${await read("README.md")}\n${await read("RECIPES.md")}`;

/** The example that has a text. */
function example(text: string): string {
  const blocks = [...documents.matchAll(/^```\w+.*\n([^]*?)^```$/gm)].map(([, code]) => code!);
  const found = blocks.find((code) => code.includes(text));
  if (found === undefined) throw new Error(`README and RECIPES have no example with "${text}"`);
  return found;
}

/** The code within sentences that begins with a text. */
function inline(text: string): string {
  const found = documents.split("`").find((code) => code.startsWith(text));
  if (found === undefined) throw new Error(`README and RECIPES have no code "${text}…"`);
  return found;
}

/** Loads code as a module. */
async function load(code: string) {
  await using folder = await makeFolder();
  return await import(pathToFileURL(await folder.write("module.ts", code)).href);
}

/** Bundles code, and runs it on Deno, where it may use the network and the environment. */
async function runOnDeno(code: string, env: Record<string, string> = {}) {
  await using folder = await makeFolder();
  await using program = await bundle(await folder.write("module.ts", code));
  const flags = ["run", "--quiet", "--no-config", "--allow-net=127.0.0.1", "--allow-env"];
  return await run(deno, [...flags, program.path], { env });
}

Deno.test("the demo says that the key is valid", async () => {
  const printed = await mustRun(deno, ["task", "--quiet", "demo"], { cwd: root });
  expect(printed).toMatch(/valid.* 100 credits/);
});

Deno.test("the quick start runs in the clone as it stands", async () => {
  const quickStart = example("createSandbox()");
  expect(await mustRun(deno, ["eval", quickStart], { cwd: root })).toContain("credits: 100");
});

Deno.test("the first program reads the key and the address from the environment", async () => {
  const firstProgram = example("SCAM_ADDRESS_API_KEY: apiKey");
  const start = (env: Record<string, string>) => runOnDeno(firstProgram, env);
  for (const status of [validKey, { apiKeyValid: false }]) {
    await using server = await serve((_, response) => json(response, status));
    const address = { SCAM_ADDRESS_BASE_URL: server.url };
    const { code, output } = await start({ ...address, SCAM_ADDRESS_API_KEY: "some-key" });
    expect([code, output.includes("100")]).toEqual([0, status.apiKeyValid]);
    expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([{ apiKey: "some-key" }]);
    expect((await start(address)).stderr).toContain('"apiKey" is missing');
  }
  expect((await start({})).stderr).toContain('"baseUrl" is missing');
});

Deno.test("the command prints the line of JSON that RECIPES shows, with the permissions it names", async () => {
  const [permission] = documents.match(/--allow-env=\S+/)!;
  const flags = ["run", "--quiet", "--no-prompt", "--import-map=import_map.npm.json", permission];
  const args = ["src/cli/main.ts", "check-key", "--sandbox", "--json"];
  const printed = await mustRun(deno, [...flags, ...args], { cwd: root });
  expect(example('{"ok":')).toBe(printed);
});

/**
 * Loads the server's module with the cache; it must not need the address before it is used. A busy
 * machine may need longer than its time limits, which only one test is about.
 */
async function loadServer(address: string, hasLimits = false) {
  delete process.env.SCAM_ADDRESS_BASE_URL;
  const code = `${example("function checkVisitor")}\n${example("new LRUCache")}`;
  const server = await load(hasLimits ? code : code.replaceAll(/(?<=imeout: )\d_000/g, "60_000"));
  expect(server.getClient).toThrow('"baseUrl" is missing');
  process.env.SCAM_ADDRESS_BASE_URL = address;
  server.getClient();
  delete process.env.SCAM_ADDRESS_BASE_URL;
  return server;
}

Deno.test("the server's handler responds to each failure as README says", async () => {
  const responses: Record<string, number> = { valid: 200, refused: 401, moved: 302 };
  await using server = await serve(({ body }, response) => {
    const { apiKey } = JSON.parse(body);
    const status = responses[apiKey];
    if (apiKey === "invalid") return json(response, { apiKeyValid: false });
    if (status) return json(response, validKey, status);
    if (apiKey === "slow") return; // there is no response
    response.writeHead(503, { "retry-after": apiKey === "later" ? "6" : "0" }).end();
  });
  const { getClient, respond } = await loadServer(server.url, true);
  expect(getClient()).toBe(getClient());
  const ask = async (key?: string) => {
    const before = server.requests.length;
    const headers: HeadersInit = key === undefined ? {} : { "x-key": key };
    const response = await respond(new Request("https://your.example/", { headers }));
    return [response.status, await response.json(), server.requests.length - before];
  };
  const unchecked = { error: expect.any(String) };
  expect(await ask("valid")).toEqual([200, { data: validKey.data }, 1]);
  expect(await ask("invalid")).toEqual([403, unchecked, 1]);
  expect(await ask("busy")).toEqual([503, unchecked, 3]);
  expect(await ask("later")).toEqual([503, unchecked, 1]); // because nobody would wait so long
  const start = performance.now();
  const [status, ...rest] = await ask("slow");
  expect([status, ...rest.slice(0, 1)]).toEqual([503, unchecked]);
  expect(rest[1]).toBeGreaterThan(1); // there was time for a second attempt
  expect(performance.now() - start).toBeLessThan(6_000);
  expect(await ask("moved")).toEqual([500, unchecked, 1]);
  expect(await ask("refused")).toEqual([500, unchecked, 1]);

  expect(await ask()).toEqual([401, unchecked, 0]);
  expect(await ask("")).toEqual([401, unchecked, 0]);
  expect(await ask("a\u00e9")).toEqual([400, unchecked, 0]);
  const leaving = new AbortController();
  const request = new Request("https://your.example/", {
    headers: { "x-key": "slow" },
    signal: leaving.signal,
  });
  const { length } = server.requests;
  const left = respond(request);
  leaving.abort();
  expect((await left).status).toBe(500); // which nobody reads
  expect(server.requests.length).toBeLessThanOrEqual(length + 1);
});

Deno.test("the server's cache joins calls, ends none when it is full, and keeps no errors", async () => {
  await using server = await serve(({ body }, response) => {
    const isBusy = JSON.parse(body).apiKey === "busy";
    setTimeout(() => json(response, validKey, isBusy ? 403 : 200), 20);
  });
  const { checkKeyOnce } = await loadServer(server.url);
  const all = Array.from({ length: 50 }, () => checkKeyOnce("some-key"));
  for (const status of await Promise.all(all)) expect(status).toEqual(validKey);
  expect(await checkKeyOnce("some-key")).toEqual(validKey);
  expect(server.requests.length).toBe(1);
  for (const count of [2, 3]) {
    const [first, second] = [checkKeyOnce("busy"), checkKeyOnce("busy")];
    await expect(first).rejects.toThrow(HttpError);
    await expect(second).rejects.toThrow(HttpError);
    expect(server.requests.length).toBe(count);
  }
  const underWay = checkKeyOnce("another-key");
  for (let count = 0; count < 1_000; count++) checkKeyOnce(`malformed ${count}\n`).catch(() => {});
  expect(await underWay).toEqual(validKey);
});

Deno.test("Node.js uses a dispatcher, which limits its connections, as RECIPES says", async () => {
  let most = 0;
  await using server = await serve((_, response) => {
    most = Math.max(most, server.sockets.size);
    json(response, validKey);
  });
  const source = `
    import { createClient } from "@scam-address/client";
    import { Agent } from "undici";
    const limited = { ${inline("requestInitExt: { dispatcher: new Agent(")} };
    const client = createClient({ baseUrl: "${server.url}", ...limited });
    await Promise.all(Array.from({ length: 50 }, () => client.checkKey("some-key")));
    await limited.requestInitExt.dispatcher.destroy();
  `;
  await using folder = await makeFolder();
  await using program = await bundle(await folder.write("module.ts", source));
  await mustRun("node", [program.path]);
  expect(server.requests.length).toBe(50);
  expect(most).toBeLessThanOrEqual(8);
});
