// The examples of README.md and RECIPES.md that need a server, run as they are printed there.
import { expect } from "@std/expect";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { createClient, HttpError, type Method } from "../../mod.ts";
import { createSandbox, type SandboxContext } from "../../src/sandbox/service.ts";
import { serveSandbox } from "../../src/sandbox/server.ts";
import { makeFolder, read, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { bundle } from "../process/support.ts";
import { json, serve, serveBytes, validKey } from "../support/server.ts";

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

/** A program that runs on Deno in a folder, which may use the network, files and the environment. */
function start(folder: string, program: string, env: Record<string, string> = {}) {
  const flags = ["run", "--quiet", "--no-config", "--no-lock", "--allow-net=127.0.0.1"];
  const args = [...flags, "--allow-env", "--allow-read=.", "--allow-write=.", program];
  const pipes = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  const options = { args, cwd: folder, env: { NO_COLOR: "1", ...env }, ...pipes };
  return new Deno.Command(deno, options).spawn();
}

/** Runs such a program to its end, with text on its standard input. */
async function finish(child: Deno.ChildProcess, stdin = "") {
  await new Blob([stdin]).stream().pipeTo(child.stdin).catch(() => {}); // It may not read it.
  const { code, stdout, stderr } = await child.output();
  return {
    code,
    stdout: new TextDecoder().decode(stdout),
    stderr: new TextDecoder().decode(stderr),
  };
}

Deno.test("the demo says that the key is valid", async () => {
  const printed = await mustRun(deno, ["task", "--quiet", "demo"], { cwd: root });
  expect(printed).toMatch(/valid.* 100 credits/);
});

Deno.test("the quick start runs in the clone as it stands", async () => {
  const quickStart = example("createSandbox({ routes");
  expect(await mustRun(deno, ["eval", quickStart], { cwd: root }))
    .toBe('100 credits\n{ risk: "low" }\n');
});

/** Looks an address up for a credit; some addresses are special. */
async function report(request: Request, { apiKey = "", keys }: SandboxContext) {
  const { address } = await request.json();
  const credits = keys.get(apiKey) ?? 0;
  if (address === "slow") return await new Promise(() => {});
  if (address === "lost") return Response.error(); // The connection breaks.
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
  await using folder = await makeFolder();
  await using program = await bundle(await folder.write("lookup.mts", example("stdin")));
  await using service = await serveReports(300);
  const own = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: "some-key" };
  const play = async (env: Record<string, string>, stdin?: string) =>
    await finish(start(folder.path, program.path, env), stdin);
  expect(await play(own)).toEqual({ code: 0, stdout: "", stderr: "300 credits\n" });
  const batch = Array.from({ length: 500 }, (_, index) => `address-${index}`);
  const lines = ["404", ...batch, "address-0", ""].join("\r\n");
  const { code, stdout, stderr } = await play(own, lines);
  const found = stdout.trim().split("\n").map((line) => JSON.parse(line));
  expect([code, found.length]).toEqual([1, 300]);
  expect(new Set(found.map(({ data }) => JSON.stringify(data)))).toEqual(
    new Set(['{"risk":"low"}']),
  );
  const [, left = ""] = stderr.match(/Not looked up:\n([^]*)/)!;
  const all = [...found.map(({ address }) => address), ...left.trim().split("\n")];
  expect(all.sort()).toEqual(["404", ...batch].sort());
  expect(stderr.match(/got the status 402/g)!.length).toBeLessThanOrEqual(3); // the calls under way
  expect((await play({ ...own, SCAM_ADDRESS_API_KEY: "other" })).stderr)
    .toContain("The key is not valid");
  const { SCAM_ADDRESS_API_KEY: _, ...address } = own;
  expect((await play(address)).stderr).toContain('"apiKey" is missing');
  expect((await play({})).stderr).toContain('"baseUrl" is missing');
});

/** The program for many lookups, whose pauses tests can wait for. */
const batch = example("appendFileSync").replace("retryAfter = 5 }", "retryAfter = 0.05 }");

Deno.test("many lookups pause, stop without credits, and are resumed without paying twice", async () => {
  const counts: Record<string, number> = {};
  let hasCredits = false;
  const route = async (request: Request) => {
    const { address } = await request.json();
    const count = counts[address] = (counts[address] ?? 0) + 1;
    if (address === "slow") return await new Promise(() => {});
    if (address === "lost") return Response.error(); // The connection breaks.
    if (address === "busy" && count === 1) {
      return new Response(null, { status: 429, headers: { "retry-after": "0.1" } });
    }
    if (address === "last" && !hasCredits) return new Response(null, { status: 402 });
    return address.startsWith("404") ? new Response(null, { status: 404 }) : { risk: address };
  };
  const sandbox = createSandbox({ keys: { "some-key": 1 }, routes: { "POST report": route } });
  await using service = await serveSandbox(sandbox);
  const env = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: "some-key" };
  await using folder = await makeFolder();
  await using program = await bundle(await folder.write("batch.mts", batch));
  const play = async () => {
    const { stdout } = await finish(start(folder.path, program.path, env));
    return stdout.trim().split("\n").sort();
  };
  const write = (addresses: string[]) => folder.write("addresses.txt", addresses.join("\r\n"));
  const results = `${folder.path}/results.jsonl`;
  const names = (prefix: string) => Array.from({ length: 20 }, (_, index) => `${prefix}-${index}`);

  await write(["lost", "busy", ...names("before"), "last", ...names("after"), "before-0", ""]);
  const printed = await play();
  for (const line of ["sent lost", "open last", "open after-19"]) expect(printed).toContain(line);
  expect(printed.filter((line) => !/ (lost|last|after-\d+)$/.test(line))).toEqual([]);

  // A program that is killed during a lookup does not repeat it; a line that was cut off does no harm.
  hasCredits = true;
  await write(["lost", "slow", "busy", ...names("before"), "last", ...names("after")]);
  const killed = start(folder.path, program.path, env);
  const countDone = async () => (await Deno.readTextFile(results)).split('"done"').length - 1;
  while (!counts["slow"] || await countDone() < 42) await new Promise((go) => setTimeout(go, 10));
  killed.kill("SIGKILL");
  await finish(killed);
  await Deno.writeTextFile(results, '\n{"address":"busy","sta', { append: true });
  expect(await play()).toEqual(["sent lost", "sent slow"]);
  const once = [...names("before"), ...names("after"), "lost", "slow"].map((name) => [name, 1]);
  expect(counts).toEqual({ ...Object.fromEntries(once), busy: 2, last: 2 });
  const lines = (await Deno.readTextFile(results)).split("\n");
  expect(lines).toContain('{"address":"busy","state":"done","data":{"risk":"busy"}}');

  // Ten failures in a row end it: two more may be in progress.
  await write(names("404"));
  await play();
  const refused = Object.keys(counts).filter((name) => name.startsWith("404"));
  expect(refused.length).toBeGreaterThanOrEqual(10);
  expect(refused.length).toBeLessThanOrEqual(12);

  // What a failed connection has sent is not known. The program ends when it is told to.
  await service.close();
  await Deno.remove(results);
  await write(["first"]);
  const ends = `const log = console.error;
    console.error = (...values) => {
      log(...values);
      globalThis.process.emit("SIGINT");
    };`;
  await using ending = await bundle(await folder.write("ending.mts", `${ends}\n${batch}`));
  const { code, stdout, stderr } = await finish(start(folder.path, ending.path, env));
  expect([code, stdout]).toEqual([1, "sent first\n"]);
  expect(stderr).toContain("got no complete response");
});

Deno.test("a key that rotates is read once, and again after a 401", async () => {
  const { createLookUp } = await load(example("function createLookUp("));
  let valid = "first-key";
  const sandbox = createSandbox({
    keys: { "first-key": 0, "second-key": 0 },
    routes: {
      "POST report": (_, { apiKey }) =>
        apiKey === valid ? { risk: "low" } : new Response(null, { status: 401 }),
    },
  });
  await using service = await serveSandbox(sandbox);
  let reads = 0;
  let isDown = true;
  let key = "first-key";
  const lookUp = createLookUp(service.url, async (signal: AbortSignal) => {
    expect(signal.aborted).toBe(false);
    reads++;
    await Promise.resolve();
    if (isDown) throw new Error("The store is down");
    return key;
  });
  await expect(lookUp("a")).rejects.toThrow("The store is down");
  isDown = false;
  const many = () => Promise.all(["a", "b", "c"].map((address) => lookUp(address)));
  for (const { data } of await many()) expect(data).toEqual({ risk: "low" });
  expect(reads).toBe(2);
  valid = key = "second-key";
  await many();
  expect(reads).toBe(3);
  valid = "third-key";
  await expect(lookUp("a")).rejects.toMatchObject({ code: "http" });
  expect(reads).toBe(4);
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

/** The server with the cache that RECIPES adds to it, and a time limit that tests can wait for. */
function serverWithCache(): string {
  const server = example("function handle(").replace("timeout: 30_000", "timeout: 3_000");
  const call = /const options = .*\n.*getClient\(\)\.call\("POST".*\n/;
  const withCache = server.replace(call, `${inline("const data = await lookUp")}\n`);
  if (withCache === server) throw new Error("README's server has no call to replace");
  return `${withCache}\n${example("new LRUCache")}`;
}

/** Loads a server; it must not need the environment before it is used. */
async function loadServer(address: string, code: string) {
  delete process.env.SCAM_ADDRESS_BASE_URL;
  const server = await load(code);
  expect(server.getClient).toThrow('"baseUrl" is missing');
  Object.assign(process.env, { SCAM_ADDRESS_BASE_URL: address, SCAM_ADDRESS_API_KEY: "some-key" });
  server.getClient();
  delete process.env.SCAM_ADDRESS_BASE_URL;
  delete process.env.SCAM_ADDRESS_API_KEY;
  return server;
}

Deno.test("the server responds to its users as README says", async () => {
  const service = await serveReports(2);
  const code = example("function handle(").replace("timeout: 30_000", "timeout: 3_000");
  const { getClient, handle, stopping } = await loadServer(service.url, code);
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
  expect(await Promise.all(statuses)).toEqual(Array(21).fill(503));
  expect(await ask("?address=401")).toEqual([500, null, failed]);
  expect(log.lines.length).toBe(codes.length + 1);

  await service.close();
  await expect(getClient().checkOwnKey({ retries: 0 })).rejects.toMatchObject({ code: "network" });
  expect(await ask("?address=some-address")).toEqual([503, "5", failed]);
  expect(log.lines.length).toBe(codes.length + 2);
  stopping.abort();
  expect(await ask("?address=some-address")).toEqual([503, "5", failed]);
  expect(log.lines.length).toBe(codes.length + 2);
});

/** Flags with which code in any folder finds the package, and what the examples use. */
const flags = ["--quiet", "--no-lock", `--config=${root}/deno.json`];
flags.push(`--import-map=${root}/import_map.npm.json`);

Deno.test("the tests in RECIPES pass, and end when one of them fails", async () => {
  await using folder = await makeFolder();
  await folder.write("server.mts", example("function handle("));
  const tests = example('from "node:test"');
  const failing = tests.replace(".status, 503", ".status, 504");
  for (const [code, text] of [[0, tests], [1, failing]] as const) {
    const file = await folder.write("server.test.mts", text);
    const outcome = await run(deno, ["test", ...flags, "--no-check", "-A", file], { cwd: root });
    expect([outcome.code, text]).toEqual([code, text]);
    expect(outcome.stdout).toMatch(code === 0 ? /2 passed \| 0 failed/ : /1 passed \| 1 failed/);
  }
});

Deno.test("the programs that no other test compiles have the right types", async () => {
  await using folder = await makeFolder();
  const files = await Promise.all([
    folder.write("lookup.mts", example("stdin")),
    folder.write("batch.mts", batch),
    folder.write("cached.mts", serverWithCache()),
    folder.write("server.mts", example("function handle(")),
    folder.write("server.test.mts", example('from "node:test"')),
  ]);
  await mustRun(deno, ["check", ...flags, ...files], { cwd: root });
});

Deno.test("the server works in Express, ends calls of users who leave, and stops", async () => {
  const express = example('from "express"').replace('"express"', '"npm:express@5.3.0"');
  const shutdown = example('"SIGTERM", () => {\n  server').replace("listen(8080)", "listen(0)");
  const program = `
    ${example("function handle(")}
    ${express}
    ${shutdown.replace("20_000", "200")}
    import { once } from "node:events";
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
    const last = fetch(url + "slow");
    while (calls < 1) await new Promise((resolve) => setTimeout(resolve, 10));
    process.emit("SIGTERM");
    console.log((await last).status);
  `;
  await using service = await serveReports(5);
  await using folder = await makeFolder();
  const file = await folder.write("module.ts", program);
  const env = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: "some-key" };
  const { code, stdout, stderr } = await run(deno, ["run", ...flags, "-A", file], {
    cwd: root,
    env,
  });
  expect([code, stdout]).toEqual([0, '200 {"risk":"low"}\n500\n503\n']);
  expect(stderr).toContain("HttpError");
  expect(stderr).not.toContain("TimeoutError"); // the calls ended before their time was up
});

Deno.test("messages read as RECIPES shows", async () => {
  const baseUrl = "https://service.example/";
  const refused = new TypeError("fetch failed", {
    cause: new Error("connect ECONNREFUSED 127.0.0.1:443"),
  });
  const cases: [Method, () => Promise<Response>][] = [
    ["POST", async () => await Response.json({ error: "No credits" }, { status: 402 })],
    ["GET", async () => await new Response(null, { status: 503 })],
    ["POST", () => Promise.reject(refused)],
  ];
  const calls = cases.map(async ([method, fetch]) => {
    const client = createClient({ baseUrl, apiKey: "some-key", fetch });
    const options = { retries: method === "GET" ? 2 : 0 };
    const error = await client.call(method, "report", options).catch((error) => error);
    return `${error.message}\n`;
  });
  expect((await Promise.all(calls)).join("")).toBe(example("failed after 3 attempts"));
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
  for (const headers of [{ "x-key": "valid" }, { "x-key": "other" }, {}, { "x-key": "a\u00e9" }]) {
    statuses.push(await checkUser(client, new Request("https://your.example/", { headers })));
  }
  expect(statuses).toEqual([200, 403, 401, 401]);
  const closed = createClient({ baseUrl: server.url, fetch: () => Promise.reject(new Error()) });
  const request = new Request("https://your.example/", { headers: { "x-key": "valid" } });
  await expect(checkUser(closed, request)).rejects.toMatchObject({ code: "network" });
});

Deno.test("the server's cache joins calls, ends none when it is full, and keeps no errors", async () => {
  await using server = await serve(({ body }, response) => {
    const isBusy = JSON.parse(body).address === "busy";
    setTimeout(() => json(response, { risk: "low" }, isBusy ? 403 : 200), 20);
  });
  const { handle, lookUp } = await loadServer(server.url, serverWithCache());
  const all = Array.from({ length: 50 }, () => lookUp("some-address"));
  for (const report of await Promise.all(all)) expect(report).toEqual({ risk: "low" });
  const request = new Request("https://your.example/lookup?address=some-address");
  expect(await (await handle(request)).json()).toEqual({ risk: "low" });
  expect(server.requests.length).toBe(1);
  for (const count of [2, 3]) {
    const [first, second] = [lookUp("busy"), lookUp("busy")];
    await expect(first).rejects.toThrow(HttpError);
    await expect(second).rejects.toThrow(HttpError);
    expect(server.requests.length).toBe(count);
  }
});

Deno.test("Deno sends a GET once with the client that README names", async () => {
  let arrived = 0;
  await using server = await serveBytes((socket, count) => {
    arrived = count;
    if (count > 1) return void socket.destroy();
    socket.write(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}",
    );
  });
  const { once } = await load(`export const once = { ${inline("requestInitExt: { client: D")} };`);
  using _client: Deno.HttpClient = once.requestInitExt.client;
  const client = createClient({ baseUrl: server.url, apiKey: "some-key", retries: 0, ...once });
  expect((await client.call("GET", "report")).data).toEqual({});
  await expect(client.call("GET", "report")).rejects.toMatchObject({ code: "network" });
  expect(arrived).toBe(2);
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
