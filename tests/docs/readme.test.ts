// The examples of README.md and RECIPES.md that need a server, run as they are printed there.
import { expect } from "@std/expect";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { createClient, HttpError } from "../../mod.ts";
import { createSandbox, type SandboxContext } from "../../src/sandbox/service.ts";
import { serveSandbox } from "../../src/sandbox/server.ts";
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
async function runOnDeno(code: string, env: Record<string, string>, args: string[] = []) {
  await using folder = await makeFolder();
  await using program = await bundle(await folder.write("module.ts", code));
  const flags = ["run", "--quiet", "--no-config", "--allow-net=127.0.0.1", "--allow-env"];
  return await run(deno, [...flags, program.path, ...args], { env });
}

Deno.test("the demo says that the key is valid", async () => {
  const printed = await mustRun(deno, ["task", "--quiet", "demo"], { cwd: root });
  expect(printed).toMatch(/valid.* 100 credits/);
});

Deno.test("the quick start runs in the clone as it stands", async () => {
  const quickStart = example("createSandbox({ routes");
  expect(await mustRun(deno, ["eval", quickStart], { cwd: root })).toContain("credits: 100");
});

/** Looks an address up for a credit; some addresses are special. */
async function report(request: Request, { apiKey = "", keys }: SandboxContext) {
  const { address } = await request.json();
  const credits = keys.get(apiKey) ?? 0;
  if (address === "slow") return await new Promise(() => {});
  if (address === "later") {
    return new Response(null, { status: 429, headers: { "retry-after": "61" } });
  }
  if (Number(address)) return Response.json({}, { status: Number(address) });
  if (credits === 0) return Response.json({ error: "No credits" }, { status: 402 });
  keys.set(apiKey, credits - 1);
  return address === "odd" ? {} : { risk: "low" };
}

/** Serves a sandbox that has one key, and the endpoint of the examples. */
const serveReports = (credits: number) =>
  serveSandbox(
    createSandbox({ keys: { "some-key": credits }, routes: { "POST report": report } }),
  );

Deno.test("the script prints the credits, looks up addresses, and names those that are left", async () => {
  const script = example("process.argv");
  await using service = await serveReports(300);
  const own = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: "some-key" };
  expect(await runOnDeno(script, own)).toMatchObject({ code: 0, output: "300 credits" });
  const batch = Array.from({ length: 500 }, (_, index) => `address-${index}`);
  const { code, stdout, stderr } = await runOnDeno(script, own, ["404", ...batch]);
  const found = stdout.match(/address-\d+(?= .*low)/g)!;
  const [, left = ""] = stderr.match(/Not looked up:\n([^]*)/)!;
  expect([code, found.length]).toEqual([1, 300]);
  expect([...found, ...left.trim().split("\n")].sort()).toEqual(["404", ...batch].sort());
  expect(stderr.match(/got the status 402/g)!.length).toBeLessThanOrEqual(3); // the calls under way
  expect((await runOnDeno(script, { ...own, SCAM_ADDRESS_API_KEY: "other" })).stderr)
    .toContain("The key is not valid");
  const { SCAM_ADDRESS_API_KEY: _, ...address } = own;
  expect((await runOnDeno(script, address)).stderr).toContain('"apiKey" is missing');
  expect((await runOnDeno(script, {})).stderr).toContain('"baseUrl" is missing');
});

Deno.test("the command prints the line of JSON that RECIPES shows, with the permissions it names", async () => {
  const [permission] = documents.match(/--allow-env=\S+/)!;
  const flags = ["run", "--quiet", "--no-prompt", "--import-map=import_map.npm.json", permission];
  const args = ["src/cli/main.ts", "check-key", "--sandbox", "--json"];
  const printed = await mustRun(deno, [...flags, ...args], { cwd: root });
  expect(example('{"ok":')).toBe(printed);
});

/** Keeps what `console.error` gets, as long as the result is in use. */
function replaceLog(): Disposable & { lines: unknown[][] } {
  const lines: unknown[][] = [];
  const original = console.error;
  console.error = (...values) => void lines.push(values);
  return { lines, [Symbol.dispose]: () => void (console.error = original) };
}

/** Loads the server's module with the cache; it must not need the environment before it is used. */
async function loadServer(address: string) {
  delete process.env.SCAM_ADDRESS_BASE_URL;
  const server = await load(`${example("function handle(")}\n${example("new LRUCache")}`);
  expect(server.getClient).toThrow('"baseUrl" is missing');
  Object.assign(process.env, { SCAM_ADDRESS_BASE_URL: address, SCAM_ADDRESS_API_KEY: "some-key" });
  server.getClient();
  delete process.env.SCAM_ADDRESS_BASE_URL;
  delete process.env.SCAM_ADDRESS_API_KEY;
  return server;
}

Deno.test("the server responds to its users as README says", async () => {
  const service = await serveReports(2);
  const { getClient, handle } = await loadServer(service.url);
  expect(getClient()).toBe(getClient());
  const statuses: Promise<number>[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const response: Promise<Response> = handle(request);
    statuses.push(response.then(({ status }) => status));
    return response;
  });
  const send = (query: string, signal: AbortSignal | null = null) =>
    fetch(`http://127.0.0.1:${server.addr.port}/lookup${query}`, { signal });
  const ask = async (query: string) => {
    const response = await send(query);
    return [response.status, response.headers.get("retry-after"), await response.json()];
  };
  using log = replaceLog();
  const failed = { error: expect.any(String) };
  expect(await ask("?address=some-address")).toEqual([200, null, { risk: "low" }]);
  expect(await ask("")).toEqual([400, null, failed]);
  expect(log.lines).toEqual([]);
  expect(await ask("?address=odd")).toEqual([500, null, failed]);
  expect(await ask("?address=some-address")).toEqual([503, "5", failed]); // without credits
  expect(await ask("?address=503")).toEqual([503, "5", failed]);
  expect(await ask("?address=later")).toEqual([503, "61", failed]);
  expect(await ask("?address=401")).toEqual([500, null, failed]);
  expect(await ask("?address=slow")).toEqual([503, "5", failed]); // a timeout
  const codes = ["invalid_response", "http", "http", "http", "http", "timeout"];
  expect(log.lines.map(([, error]) => (error as HttpError).code)).toEqual(codes);

  // Users who leave end their calls before the time is up, which would be a 503, and are not logged.
  statuses.length = 0;
  const leaving = new AbortController();
  const many = Array.from({ length: 20 }, () => send("?address=slow", leaving.signal));
  const left = Promise.allSettled(many);
  while (statuses.length < 20) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await ask("?address=401")).toEqual([503, "5", failed]); // too many calls
  leaving.abort();
  await left;
  expect(await Promise.all(statuses)).toEqual([...Array(20).fill(500), 503]);
  expect(await ask("?address=401")).toEqual([500, null, failed]);
  expect(log.lines.length).toBe(codes.length + 1);

  await service.close();
  expect(await ask("?address=some-address")).toEqual([503, "5", failed]);
  await expect(getClient().checkOwnKey({ retries: 0 })).rejects.toMatchObject({ code: "network" });
});

/** Flags with which code in any folder finds the package, and what the examples use. */
const flags = ["--quiet", "--no-lock", `--config=${root}/deno.json`];
flags.push(`--import-map=${root}/import_map.npm.json`);

Deno.test("the test in RECIPES passes", async () => {
  await using folder = await makeFolder();
  await folder.write("server.ts", example("function handle("));
  const test = await folder.write("server.test.ts", example('from "node:test"'));
  await mustRun(deno, ["test", ...flags, "--no-check", "-A", test], { cwd: root });
});

Deno.test("the programs that no other test compiles have the right types", async () => {
  await using folder = await makeFolder();
  const server = `${example("new LRUCache")}\n${example("function handle(")}`;
  const files = await Promise.all([
    folder.write("lookup.mts", example("process.argv")),
    folder.write("server.ts", server),
    folder.write("server.test.ts", example('from "node:test"')),
  ]);
  await mustRun(deno, ["check", ...flags, ...files], { cwd: root });
});

Deno.test("the server works in Express, and ends a call when its user leaves", async () => {
  const express = example('from "express"').replace('"express"', '"npm:express@5.3.0"');
  const program = `
    ${example("function handle(")}
    ${express}
    import { once } from "node:events";
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = \`http://127.0.0.1:\${server.address().port}/lookup?address=\`;
    const found = await fetch(url + "some-address");
    console.log(found.status, await found.text());
    console.log((await fetch(url + "401")).status);
    const leaving = new AbortController();
    const many = Array.from({ length: 20 }, () => fetch(url + "slow", { signal: leaving.signal }));
    while (calls < 20) await new Promise((resolve) => setTimeout(resolve, 10));
    leaving.abort();
    await Promise.allSettled(many);
    while (calls > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    server.close();
  `;
  await using service = await serveReports(5);
  await using folder = await makeFolder();
  const file = await folder.write("module.ts", program);
  const env = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: "some-key" };
  const { code, stdout, stderr } = await run(deno, ["run", ...flags, "-A", file], {
    cwd: root,
    env,
  });
  expect([code, stdout]).toEqual([0, '200 {"risk":"low"}\n500\n']);
  expect(stderr).toContain("HttpError");
  expect(stderr).not.toContain("TimeoutError"); // the calls ended before their time was up
});

Deno.test("pino logs an error with its stack and its fields, as RECIPES says", async () => {
  const program = `
    import { HttpError } from "@scam-address/client";
    import { pino } from "npm:pino@10.4.0";
    const logger = pino({ serializers: { ${inline("err: (error)")} } });
    const response = { status: 402, headers: new Headers({ "x-id": "1" }), body: "no credits" };
    logger.error(new HttpError("It failed", { response }));
    logger.error({ err: null });
  `;
  await using folder = await makeFolder();
  const file = await folder.write("module.ts", program);
  const printed = await mustRun(deno, ["run", ...flags, "-A", file], { cwd: root });
  const [logged, other] = printed.trim().split("\n").map((line) => JSON.parse(line).err);
  const stack = expect.stringContaining("module.ts");
  expect(logged).toMatchObject({
    name: "HttpError",
    stack,
    response: { headers: { "x-id": "1" } },
  });
  expect(other).toEqual({});
});

Deno.test("a user's key is checked as RECIPES says", async () => {
  await using server = await serve(({ body }, response) =>
    json(response, JSON.parse(body).apiKey === "valid" ? validKey : { apiKeyValid: false })
  );
  const { checkUser } = await load(example("function checkUser("));
  const client = createClient({ baseUrl: server.url });
  const statuses: number[] = [];
  for (const key of ["valid", "other", "", "a\u00e9"]) {
    const request = new Request("https://your.example/", { headers: { "x-key": key } });
    statuses.push((await checkUser(client, request)).status);
  }
  expect(statuses).toEqual([200, 403, 401, 400]);
  const closed = createClient({ baseUrl: server.url, fetch: () => Promise.reject(new Error()) });
  const request = new Request("https://your.example/", { headers: { "x-key": "valid" } });
  await expect(checkUser(closed, request)).rejects.toMatchObject({ code: "network" });
});

Deno.test("the server's cache joins calls, ends none when it is full, and keeps no errors", async () => {
  await using server = await serve(({ body }, response) => {
    const isBusy = JSON.parse(body).address === "busy";
    setTimeout(() => json(response, { risk: "low" }, isBusy ? 403 : 200), 20);
  });
  const { lookUp } = await loadServer(server.url);
  const all = Array.from({ length: 50 }, () => lookUp("some-address"));
  for (const report of await Promise.all(all)) expect(report).toEqual({ risk: "low" });
  expect(await lookUp("some-address")).toEqual({ risk: "low" });
  expect(server.requests.length).toBe(1);
  for (const count of [2, 3]) {
    const [first, second] = [lookUp("busy"), lookUp("busy")];
    await expect(first).rejects.toThrow(HttpError);
    await expect(second).rejects.toThrow(HttpError);
    expect(server.requests.length).toBe(count);
  }
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
