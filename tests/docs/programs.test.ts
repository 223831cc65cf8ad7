// The programs of README.md and RECIPES.md, run as they are printed: the first line of each is the name
// of its file. `worker.mts` runs in `scripts/test_runtimes.ts`.
import { expect } from "@std/expect";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { ConfigurationError } from "../../mod.ts";
import config from "../../deno.json" with { type: "json" };
import npmMap from "../../import_map.npm.json" with { type: "json" };
import { createSandbox, type SandboxRoute } from "../../src/sandbox/service.ts";
import { serveSandbox } from "../../src/sandbox/server.ts";
import { type Folder, makeFolder, read, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { listPrograms } from "../../scripts/support/programs.ts";
import { finish } from "../process/support.ts";
import { demoCredits } from "../support/server.ts";

const recipes = await read("RECIPES.md");
const programs = listPrograms(`${await read("README.md")}\n${recipes}`);

/** Where programs in any folder find the package, and what they use beside it. */
const imports: Record<string, string> = {
  ...npmMap.imports,
  express: "npm:express@5.3.0",
  hono: "npm:hono@4.13.19",
};
for (const [name, path] of Object.entries(config.exports)) {
  imports[`${config.name}${name.slice(1)}`] = pathToFileURL(`${root}/${path}`).href;
}

/** Writes all programs into a folder; `await using` removes it. */
async function writePrograms(): Promise<Folder> {
  const folder = await makeFolder();
  for (const { name, code } of programs) await folder.write(name, code);
  await folder.write("map.json", { imports });
  return folder;
}

const flags = ["--quiet", "--no-lock", "--no-config", "--import-map=map.json"];

/** What a program needs, beside its arguments. */
interface Settings {
  folder: Folder;
  /** The address of the service. */
  url?: string;
  stdin?: string;
  port?: number;
  /** The program's permissions on Deno; by default all. */
  permissions?: string[];
}

/** Starts a program on Deno. */
function start(name: string, settings: Settings): Deno.ChildProcess {
  const { folder, url, port, permissions = ["-A"] } = settings;
  const env: Record<string, string> = { NO_COLOR: "1", PORT: `${port}` };
  if (url) Object.assign(env, { SCAM_ADDRESS_BASE_URL: url, SCAM_ADDRESS_API_KEY: "some-key" });
  const args = ["run", ...flags, ...permissions, "--no-prompt", name];
  const pipes = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  return new Deno.Command(deno, { args, cwd: folder.path, env, ...pipes }).spawn();
}

const play = (name: string, settings: Settings) => finish(start(name, settings), settings.stdin);

/** Loads a program into this process. */
const load = (folder: Folder, name: string) => import(pathToFileURL(`${folder.path}/${name}`).href);

/** Serves the endpoint of the programs; `counts` says how often each address was looked up. */
async function serveReports(
  respond: (address: string, count: number) => unknown,
  port?: number,
) {
  const counts: Record<string, number> = {};
  const route: SandboxRoute = async (request) => {
    const { address } = await request.json();
    return respond(address, counts[address] = (counts[address] ?? 0) + 1);
  };
  const sandbox = createSandbox({ keys: { "some-key": 1 }, routes: { "POST report": route } });
  return { ...await serveSandbox(sandbox, { port }), keys: sandbox.keys, counts };
}

/** Responds with the status that an address names, if it names one. */
function report(address: string): unknown {
  return Number(address) ? Response.json({}, { status: Number(address) }) : { risk: "low" };
}

/** Returns a port that is free now. */
function findPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Waits until something is true, for at most 20 seconds. */
async function waitUntil(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!await isTrue()) {
    if (performance.now() > end) throw new Error(`Not true within 20 seconds: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

Deno.test("the demo says that the key is valid", async () => {
  const printed = await mustRun(deno, ["task", "--quiet", "demo"], { cwd: root });
  expect(printed).toContain(` ${demoCredits} credits`);
});

Deno.test("the programs have the right types", async () => {
  await using folder = await writePrograms();
  const names = programs.map(({ name }) => name);
  // Deno does not find Express's types on its own.
  await folder.write("map.json", { imports: { ...imports, express: "npm:@types/express@5.0.6" } });
  await mustRun(deno, ["check", ...flags, ...names], { cwd: folder.path });
});

Deno.test("lookup.mts looks up each address once, and stops at a failure", async () => {
  await using folder = await writePrograms();
  await using service = await serveReports(report);
  const stdin = "\uFEFFfirst\r\nsecond\r\n\r\nfirst\r\n404\r\nlast";
  const { code, stdout, stderr } = await play("lookup.mts", { folder, url: service.url, stdin });
  expect([code, service.counts]).toEqual([1, { first: 1, second: 1, 404: 1 }]);
  const found = stdout.trim().split("\n").map((line) => JSON.parse(line));
  const data = { risk: "low" };
  expect(found).toEqual([{ address: "first", data }, { address: "second", data }]);
  expect(stderr).toMatch(/Looking up 404\n[^]*HttpError: .* 404/);
});

Deno.test("batch.mts pays once for each address, resumes, and says what is left", async () => {
  await using folder = await writePrograms();
  let hasCredits = false;
  await using service = await serveReports((address, count) => {
    if (address === "busy" && count === 1) {
      return new Response(null, { status: 429, headers: { "retry-after": "0.1" } });
    }
    return report(address === "last" && !hasCredits ? "402" : address);
  });
  const { url, counts } = service;
  expect((await play("batch.mts", { folder, url })).code).toBe(1); // There is no addresses.txt.
  await folder.write("addresses.txt", "\uFEFFfirst\r\nbusy\r\n404\r\nfirst\r\nlast\r\n");
  expect((await play("batch.mts", { folder, url })).code).toBe(3);
  hasCredits = true;
  expect((await play("batch.mts", { folder, url })).code).toBe(2);
  const again = await play("batch.mts", { folder, url });
  expect([again.code, again.stderr.includes(" 404")]).toEqual([2, true]);
  expect(counts).toEqual({ first: 1, busy: 2, 404: 1, last: 2 });

  await folder.write("addresses.txt", "first\nbusy\nlast");
  expect((await play("batch.mts", { folder, url })).code).toBe(0);
});

Deno.test("batch.mts pays once when it is killed, and when it runs twice at once", async () => {
  await using folder = await writePrograms();
  let isSlow = true;
  await using service = await serveReports(async (address) => {
    if (isSlow) await new Promise(() => {});
    return report(address);
  });
  const { url, counts } = service;
  const names = Array.from({ length: 30 }, (_, index) => `name-${index}`);
  await folder.write("addresses.txt", names.join("\n"));
  const killed = start("batch.mts", { folder, url });
  await waitUntil(() => Object.keys(counts).length === 5);
  killed.kill("SIGKILL");
  await finish(killed);
  isSlow = false;
  const both = await Promise.all([1, 2].map(() => play("batch.mts", { folder, url })));
  expect(both.map(({ code }) => code)).toEqual([2, 2]); // Five results are lost.
  expect(counts).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
});

/** Windows has neither SIGTERM nor a POSIX shell. */
const ignore = Deno.build.os === "windows";

Deno.test(
  "batch.mts needs only the permissions that RECIPES names, and looks up again what was lost",
  { ignore },
  async () => {
    await using folder = await writePrograms();
    let isFixed = false;
    await using service = await serveReports((address) => {
      const error = { error: { data: "none" } };
      return address === "odd" && !isFixed
        ? Response.json(error, { status: 404 })
        : report(address);
    });
    const { host } = new URL(service.url);
    const command = recipes.match(/^deno run ([^]*?) batch\.mts$/m)![1]!;
    const permissions = command.replace("service.example", host).split(/[\s\\]+/);
    const settings = { folder, url: service.url, permissions };
    await folder.write("addresses.txt", 'first\nodd\n"data":\n');
    expect((await play("batch.mts", settings)).code).toBe(3);
    const findLost = recipes.match(/`(grep -rL .*)`/)![1]!;
    isFixed = true;
    await mustRun("sh", ["-c", findLost], { cwd: folder.path });
    expect((await play("batch.mts", settings)).code).toBe(0);
    expect(service.counts).toEqual({ first: 1, odd: 2, '"data":': 1 });
    await mustRun("sh", ["-c", findLost], { cwd: folder.path });
    expect([(await play("batch.mts", settings)).code, service.counts["odd"]]).toEqual([0, 2]);
  },
);

Deno.test("batch.mts finishes its lookups on SIGTERM", { ignore }, async () => {
  await using folder = await writePrograms();
  const slow = Promise.withResolvers<void>();
  await using service = await serveReports(async (address) => {
    await slow.promise;
    return report(address);
  });
  const { url, counts } = service;
  const names = Array.from({ length: 6 }, (_, index) => `name-${index}`);
  const once = (names: string[]) => Object.fromEntries(names.map((name) => [name, 1]));
  await folder.write("addresses.txt", names.join("\n"));
  const stopped = start("batch.mts", { folder, url });
  await waitUntil(() => Object.keys(counts).length === 5);
  stopped.kill("SIGTERM");
  setTimeout(slow.resolve, 200);
  expect([(await finish(stopped)).code, counts]).toEqual([3, once(names.slice(0, 5))]);
  expect([(await play("batch.mts", { folder, url })).code, counts]).toEqual([0, once(names)]);
});

Deno.test("batch.mts stops after ten failures in a row", async () => {
  await using folder = await writePrograms();
  await using service = await serveReports(() => report("503"));
  const names = Array.from({ length: 30 }, (_, index) => `name-${index}`);
  await folder.write("addresses.txt", names.join("\n"));
  expect((await play("batch.mts", { folder, url: service.url })).code).toBe(3);
  const { length } = Object.keys(service.counts);
  expect([length >= 10, length < 15]).toEqual([true, true]); // Others were in progress.
});

Deno.test("server.mts responds to users, and with cache.mts joins their calls", async () => {
  await using folder = await writePrograms();
  delete process.env["SCAM_ADDRESS_BASE_URL"];
  const [{ getClient }, { handle }, cache] = await Promise.all(
    ["report.mts", "server.mts", "cache.mts"].map((name) => load(folder, name)),
  );
  expect(getClient).toThrow(ConfigurationError);
  const service = await serveReports((address) => address === "odd" ? {} : report(address));
  const env = { SCAM_ADDRESS_BASE_URL: service.url, SCAM_ADDRESS_API_KEY: "some-key" };
  Object.assign(process.env, env);
  expect(getClient()).toBe(getClient());
  for (const name of Object.keys(env)) delete process.env[name];
  const { error: log } = console;
  const logged: string[] = [];
  console.error = (_text, { code }) => void logged.push(code);
  const ask = async (query: string) => {
    const response = await handle({ method: "GET", url: `https://your.example/lookup${query}` });
    return [response.status, await response.json()];
  };
  try {
    const failed = { error: "The lookup failed" };
    const url = "https://your.example/lookup?address=some-address";
    expect((await handle({ method: "HEAD", url })).status).toBe(405);
    expect(service.counts).toEqual({});
    expect(await ask("?address=some-address")).toEqual([200, { risk: "low" }]);
    expect(await ask("")).toEqual([400, { error: "address is missing" }]);
    expect(await ask("?address=503")).toEqual([503, failed]);
    expect(await ask("?address=401")).toEqual([500, failed]);
    expect(await ask("?address=odd")).toEqual([500, failed]);
    const both = ["joined", "joined"].map(cache.getReport);
    expect([await Promise.all(both), service.counts["joined"]])
      .toEqual([[{ risk: "low" }, { risk: "low" }], 1]);
    for (const count of [1, 2]) {
      await expect(cache.getReport("404")).rejects.toMatchObject({ code: "http" });
      expect(service.counts["404"]).toBe(count);
    }
    await service.close();
    expect(await ask("?address=some-address")).toEqual([503, failed]);
    expect(logged).toEqual(["http", "http", "invalid_response", "network"]);
  } finally {
    console.error = log;
  }
});

Deno.test(
  "main.mts starts without the service, and finishes calls on SIGTERM",
  { ignore },
  async () => {
    await using folder = await writePrograms();
    const [servicePort, port] = [findPort(), findPort()];
    const settings = { folder, url: `http://127.0.0.1:${servicePort}/`, port };
    const server = start("main.mts", settings);
    const ask = (address: string) => fetch(`http://127.0.0.1:${port}/lookup?address=${address}`);
    const statusOf = async (response: Promise<Response>) => {
      const { status, body } = await response;
      await body?.cancel();
      return status;
    };
    await waitUntil(async () => await statusOf(ask("first")).catch(() => 0) === 503);
    const slow = Promise.withResolvers<void>();
    await using service = await serveReports(async (address) => {
      if (address === "slow") await slow.promise;
      return report(address);
    }, servicePort);
    expect(await statusOf(ask("first"))).toBe(200);
    const last = statusOf(ask("slow"));
    await waitUntil(() => service.counts["slow"] === 1);
    server.kill("SIGTERM");
    setTimeout(slow.resolve, 200);
    expect([await last, (await finish(server)).code]).toEqual([200, 0]);
    service.keys.clear();
    const refused = await play("main.mts", settings);
    expect([refused.code, refused.stderr.includes("The key is not valid")]).toEqual([1, true]);
    const unset = await play("main.mts", { folder, port });
    expect([unset.code, unset.stderr.includes("ConfigurationError")]).toEqual([1, true]);
  },
);

Deno.test("server.test.mts passes", async () => {
  await using folder = await writePrograms();
  const args = ["test", ...flags, "--no-check", "-A", "server.test.mts"];
  expect((await run(deno, args, { cwd: folder.path })).output).toMatch(/1 passed \| 0 failed/);
});
