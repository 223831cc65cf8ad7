// The recipes of README.md, run as they are printed there, against real servers.
import { expect } from "@std/expect";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  ConfigurationError,
  createClient,
  HttpError,
  type KeyStatus,
  type ScamAddressClient,
} from "../../mod.ts";
import { createSandbox } from "../../src/sandbox/service.ts";
import { serveSandbox } from "../../src/sandbox/server.ts";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";
import { bundle, runtimes } from "../process/support.ts";
import { json, listen, serve, validKey } from "../server.ts";
import { checkKeyPath } from "../client.ts";

const readme = await Deno.readTextFile(join(root, "README.md"));

/** The part of README below a heading. */
function section(heading: string): string {
  const [, text] = readme.split(new RegExp(`^#+ ${heading}\n`, "m"));
  if (text === undefined) throw new Error(`README.md has no heading "${heading}"`);
  return text.replace(/^#.*/ms, "");
}

/** The code block below a heading. */
function block(heading: string): string {
  const [, code] = /^```ts.*?\n(.*?)^```$/ms.exec(section(heading)) ?? [];
  if (code === undefined) throw new Error(`README.md has no code below "${heading}"`);
  return code;
}

/** The code within the text below a heading that begins with a name. */
function inline(heading: string, name: string): string {
  const code = section(heading).split("`").find((part) => part.startsWith(name));
  if (code === undefined) throw new Error(`README.md has no "${name}" below "${heading}"`);
  return code;
}

/** Loads code as a module. */
async function load(code: string) {
  await using folder = await makeFolder();
  return await import(pathToFileURL(await folder.write("module.ts", code)).href);
}

Deno.test("the commands to try the checkout stand on lines of their own, and print what README says", async () => {
  const [commands, output] = section("Try it").matchAll(/^```\w+\n(.*?)^```$/gms);
  const task = (name: string) => `npx -y deno@${Deno.version.deno} task ${name}`;
  expect(commands![1]).toBe(`${task("demo")}\n${task("test")}\n`);
  const printed = await mustRun(deno, ["task", "--quiet", "demo"], { cwd: root });
  const withoutPort = (text: string) => text.replaceAll(/:\d+\//g, ":PORT/").trim();
  expect(withoutPort(printed)).toBe(withoutPort(output![1]!));
});

Deno.test("the first example reads the credits of the client's own key", async () => {
  const statuses = { "100 credits": validKey, "The key is not valid": { apiKeyValid: false } };
  for (const [printed, status] of Object.entries(statuses)) {
    await using server = await serve((_, response) => json(response, status));
    const code = block("Check a key");
    expect(code).toContain("https://service.example/api/");
    await using folder = await makeFolder();
    const own = code.replace("https://service.example/api/", server.url);
    await using program = await bundle(await folder.write("module.ts", own));
    const flags = ["run", "--quiet", "--no-config", "--allow-net=127.0.0.1"];
    expect(await mustRun(deno, [...flags, program.path])).toBe(`${printed}\n`);
    expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([{ apiKey: "your-key" }]);
  }
});

Deno.test("the command prints the line of JSON that README shows", async () => {
  const flags = ["run", "--quiet", "--import-map=import_map.npm.json", "--allow-env"];
  const args = ["src/cli/main.ts", "check-key", "--sandbox", "--json"];
  const printed = await mustRun(deno, [...flags, ...args], { cwd: root });
  expect(section("The command")).toContain(`\`\`\`text\n${printed}\`\`\``);
});

Deno.test("the server's handler responds to each failure as README says", async () => {
  const { respond }: {
    respond(request: Request, client: ScamAddressClient): Promise<Response>;
  } = await load(block("In a server"));
  const responses: Record<string, [status: number, headers?: Record<string, string>]> = {
    valid: [200],
    busy: [429, { "retry-after": "7" }],
    failing: [500],
    unauthorized: [401],
    moved: [302, { location: "/elsewhere" }],
  }; // and none to "slow"
  await using server = await serve(({ body }, response) => {
    const { apiKey } = JSON.parse(body);
    if (apiKey === "broken") return void response.destroy();
    const [status, headers] = responses[apiKey] ?? [];
    if (status) response.writeHead(status, headers).end(JSON.stringify(validKey));
  });
  const options = inline("In a server", "createClient").replace(/^createClient\(|\)$/g, "");
  const { client } = await load(`
    import { createClient } from "@scam-address/client";
    const baseUrl = "${server.url}";
    export const client = createClient(${options});
  `);
  const ask = async (key?: string) => {
    const headers: HeadersInit = key === undefined ? {} : { "x-key": key };
    const response = await respond(new Request("https://your.example/", { headers }), client);
    return [response.status, response.headers.get("retry-after"), await response.text()];
  };
  const later = [503, null, "Try again later"];
  const mistake = [500, null, "Our mistake"];
  expect(await ask("broken")).toEqual(later); // the first one, as Deno repeats it later
  expect(await ask("valid")).toEqual([200, null, JSON.stringify(validKey)]);
  expect(await ask("busy")).toEqual([429, "7", "Too many requests"]);
  expect(await ask("failing")).toEqual(later);
  expect(await ask("slow")).toEqual(later);
  expect(await ask("moved")).toEqual(mistake);
  expect(await ask("unauthorized")).toEqual(mistake);
  expect(server.requests.length).toBe(7); // each was sent once

  expect(await ask()).toEqual([401, null, "x-key is missing"]);
  expect(await ask("")).toEqual([401, null, "x-key is missing"]);
  expect(await ask("a\u00e9")).toEqual([400, null, "x-key is malformed"]);
  const leaving = new AbortController();
  const request = new Request("https://your.example/", {
    headers: { "x-key": "slow" },
    signal: leaving.signal,
  });
  const left = respond(request, client);
  leaving.abort();
  expect((await left).status).toBe(503);
  expect(server.requests.length).toBeLessThanOrEqual(8);
});

type CheckKeys = (
  client: ScamAddressClient,
  lines: string[],
  report: (key: string, result: KeyStatus | Error) => void,
  signal?: AbortSignal,
) => Promise<void>;

async function loadCheckKeys(): Promise<CheckKeys> {
  return (await load(block("Many keys"))).checkKeys;
}

Deno.test("checkKeys() has a result for each key when the service limits calls", async () => {
  const checkKeys = await loadCheckKeys();
  let calls = 0;
  let refused = 0;
  const { fetch: respond } = createSandbox({ keys: { "key-1": 5 } });
  const sandbox = createSandbox({
    routes: {
      async [`POST ${checkKeyPath.slice(1)}`](request) {
        if (++calls % 20 === 0) {
          refused++;
          return new Response(null, { status: 429, headers: { "retry-after": "0" } });
        }
        const copy = request.clone();
        const { apiKey } = await request.json();
        return apiKey === "strange" ? new Response(null, { status: 400 }) : await respond(copy);
      },
    },
  });
  await using server = await serveSandbox(sandbox);
  const keys = Array.from({ length: 70 }, (_, index) => `key-${index}`);
  const results = new Map<string, KeyStatus | Error>();
  const lines = ["strange", "", "\t", "a\u0080", ...keys, "key-1", ""];
  const client = createClient({ baseUrl: server.url });
  await checkKeys(client, lines, (key, result) => void results.set(key, result));
  expect([...results.keys()].sort()).toEqual(["strange", "a\u0080", ...keys].sort());
  expect(refused).toBeGreaterThan(0);
  expect(results.get("strange")).toBeInstanceOf(HttpError);
  expect(results.get("a\u0080")).toBeInstanceOf(ConfigurationError);
  for (const key of keys) {
    const valid = { apiKeyValid: true, data: { credits: 5 } };
    expect(results.get(key)).toEqual(key === "key-1" ? valid : { apiKeyValid: false });
  }
});

Deno.test("checkKeys() gives up when every key fails, except malformed ones", async () => {
  const checkKeys = await loadCheckKeys();
  await using server = await serve((_, response) => json(response, {}, 404));
  const malformed = Array.from({ length: 100 }, (_, index) => `\n${index}`);
  const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
  const client = createClient({ baseUrl: server.url });
  const reported: string[] = [];
  const all = checkKeys(client, [...malformed, ...keys], (key) => void reported.push(key));
  await expect(all).rejects.toThrow("Ten keys in a row failed");
  const asked = server.requests.length;
  expect(asked).toBeGreaterThanOrEqual(10);
  expect(asked).toBeLessThanOrEqual(10 + 7); // seven were under way
});

Deno.test("checkKeys() reports nothing more when its signal is aborted", async () => {
  const checkKeys = await loadCheckKeys();
  const stopping = new AbortController();
  await using server = await serve((_, response, count) => {
    if (count <= 5) json(response, validKey);
    else stopping.abort("Ctrl-C"); // and no response
  });
  const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`);
  const client = createClient({ baseUrl: server.url });
  const results: unknown[] = [];
  const report = (_: string, result: unknown) => void results.push(result);
  const all = checkKeys(client, keys, report, stopping.signal);
  expect(await all.catch((reason) => reason)).toBe("Ctrl-C");
  expect(results.length).toBeLessThanOrEqual(5);
  for (const result of results) expect(result).toEqual(validKey);
});

/** Starts a proxy that opens tunnels, and keeps the hosts that these lead to. */
async function serveProxy() {
  const hosts: string[] = [];
  const server = createServer();
  server.on("connect", ({ url }, socket) => {
    hosts.push(url!);
    const { hostname, port } = new URL(`http://${url}`);
    const target = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(target).pipe(socket);
    });
    target.on("error", () => socket.destroy());
  });
  return { ...await listen(server), hosts };
}

const ignore = !runtimes.some(({ name }) => name === "Node"); // its absence is reported there
Deno.test("Node.js uses a proxy, and limits its connections, as README says", {
  ignore,
}, async () => {
  await using proxy = await serveProxy();
  await using behindProxy = await serve((_, response) => json(response, validKey));
  let most = 0;
  await using server = await serve((_, response) => {
    most = Math.max(most, server.sockets.size);
    json(response, validKey);
  });
  const [useProxy, limit] = ["ProxyAgent", "Agent"].map((agent) =>
    inline(
      "Web pages, proxies, certificates",
      `requestInitExt: { dispatcher: new ${agent}`,
    )
  );
  const source = `
    import { createClient } from "@scam-address/client";
    import { Agent, ProxyAgent } from "undici";
    const proxyUrl = "${proxy.url}";
    const proxied = { ${useProxy} };
    const limited = { ${limit} };
    const clients = [
      createClient({ baseUrl: "${behindProxy.url}", ...proxied }),
      createClient({ baseUrl: "${server.url}", ...limited }),
    ];
    for (const client of clients) {
      await Promise.all(Array.from({ length: 50 }, () => client.checkKey("some-key")));
    }
    await proxied.requestInitExt.dispatcher.destroy();
    await limited.requestInitExt.dispatcher.destroy();
  `;
  await using folder = await makeFolder();
  await using program = await bundle(await folder.write("module.ts", source));
  await mustRun("node", [program.path]);
  expect([behindProxy.requests.length, server.requests.length]).toEqual([50, 50]);
  expect(new Set(proxy.hosts)).toEqual(new Set([new URL(behindProxy.url).host]));
  expect(most).toBeLessThanOrEqual(8);
});
