// The examples of README.md and RECIPES.md that need a server, run as they are printed there.
import { expect } from "@std/expect";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { ConfigurationError, createClient, HttpError, type KeyStatus } from "../../mod.ts";
import { makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { bundle, runtimes } from "../process/support.ts";
import { json, listen, serve, validKey } from "../support/server.ts";
import { baseUrl } from "../support/client.ts";

const files = ["README.md", "RECIPES.md"].map((name) => Deno.readTextFile(join(root, name)));
const documents = (await Promise.all(files)).join("\n");

/** The part of a document below a heading. */
function section(heading: string): string {
  const [, text] = documents.split(new RegExp(`^#+ ${heading}\n`, "m"));
  if (text === undefined) throw new Error(`There is no heading "${heading}"`);
  return text.replace(/^#.*/ms, "");
}

/** The code blocks below a heading. */
function blocks(heading: string): string[] {
  return [...section(heading).matchAll(/^```ts.*?\n(.*?)^```$/gms)].map(([, code]) => code!);
}

/** The code within the text below a heading that begins with a name. */
function inline(heading: string, name: string): string {
  const code = section(heading).split("`").find((part) => part.startsWith(name));
  if (code === undefined) throw new Error(`There is no "${name}" below "${heading}"`);
  return code;
}

/** Loads code as a module. */
async function load(code: string) {
  await using folder = await makeFolder();
  return await import(pathToFileURL(await folder.write("module.ts", code)).href);
}

/** Bundles code, and returns what it prints on Deno when it may use the network and no more. */
async function runOnDeno(code: string): Promise<string> {
  await using folder = await makeFolder();
  await using program = await bundle(await folder.write("module.ts", code));
  const flags = ["run", "--quiet", "--no-config", "--allow-net=127.0.0.1"];
  return await mustRun(deno, [...flags, program.path]);
}

Deno.test("the commands to try the clone stand on lines of their own, and print what README says", async () => {
  const heading = "Try it in a clone";
  const [commands] = section(heading).matchAll(/^```sh\n(.*?)^```$/gms);
  const npx = `npx -y deno@${Deno.version.deno}`;
  expect(commands![1]).toBe(`${npx} task demo\n${npx} task test\n`);
  const printed = await mustRun(deno, ["task", "--quiet", "demo"], { cwd: root });
  expect(printed.trim().split("\n").at(-1)).toBe(inline(heading, "The key is"));
  expect(inline(heading, npx)).toBe(`${npx} run example.ts`);
});

const [quickStart] = blocks("Quick start");

Deno.test("the quick start runs in the clone as it stands, and prints what README says", async () => {
  const printed = await mustRun(deno, ["eval", quickStart!], { cwd: root });
  expect(printed.trim()).toBe(inline("Quick start", "100"));
});

Deno.test("the quick start calls the service when what it says is deleted", async () => {
  const statuses = { "100 credits": validKey, "The key is not valid": { apiKeyValid: false } };
  for (const [printed, status] of Object.entries(statuses)) {
    await using server = await serve((_, response) => json(response, status));
    const code = quickStart!.replace(/^.*delete this.*\n/m, "").replace(", fetch }", " }");
    expect(code).not.toBe(quickStart);
    expect(await runOnDeno(code.replace("https://service.example/", server.url)))
      .toBe(`${printed}\n`);
    expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([{ apiKey: "demo-key" }]);
  }
});

Deno.test("the command prints the line of JSON that README shows, with the permissions it names", async () => {
  const heading = "The command";
  const [permission] = section(heading).match(/--allow-env=\S+/)!;
  const flags = ["run", "--quiet", "--no-prompt", "--import-map=import_map.npm.json", permission];
  const args = ["src/cli/main.ts", "check-key", "--sandbox", "--json"];
  const printed = await mustRun(deno, [...flags, ...args], { cwd: root });
  expect(section(heading)).toContain(`\`\`\`text\n${printed}\`\`\``);
});

/** Loads the server's module with the cache; it must not need the address before it is used. */
async function loadServer(address: string) {
  delete process.env.SCAM_ADDRESS_BASE_URL;
  const server = await load([...blocks("In a server"), ...blocks("A cache")].join("\n"));
  process.env.SCAM_ADDRESS_BASE_URL = address;
  server.getClient();
  delete process.env.SCAM_ADDRESS_BASE_URL;
  return server;
}

Deno.test("the server's handler responds to each failure as README says", async () => {
  const responses: Record<string, number> = { valid: 200, busy: 429, moved: 302 }; // none to "slow"
  await using server = await serve(({ body }, response) => {
    const { apiKey } = JSON.parse(body);
    const status = responses[apiKey];
    if (apiKey === "later") response.setHeader("retry-after", "3");
    if (apiKey === "later" || status) {
      response.writeHead(status ?? 503).end(JSON.stringify(validKey));
    }
  });
  const { getClient, respond } = await loadServer(server.url);
  expect(getClient()).toBe(getClient());
  const ask = async (key?: string) => {
    const headers: HeadersInit = key === undefined ? {} : { "x-key": key };
    const response = await respond(new Request("https://your.example/", { headers }));
    return [response.status, await response.json()];
  };
  const later = [503, { error: "The key was not checked" }];
  expect(await ask("valid")).toEqual([200, validKey]);
  expect(await ask("busy")).toEqual(later);
  expect(server.requests.length).toBe(3); // it was sent twice
  expect(await ask("later")).toEqual(later);
  expect(server.requests.length).toBe(4); // and this once, because nobody would wait so long
  expect(await ask("slow")).toEqual(later);
  expect(await ask("moved")).toEqual([500, { error: "The key was not checked" }]);
  expect(server.requests.length).toBe(7);

  expect(await ask()).toEqual([401, { error: "x-key is missing" }]);
  expect(await ask("")).toEqual([401, { error: "x-key is missing" }]);
  expect(await ask("a\u00e9")).toEqual([400, { error: "x-key is malformed" }]);
  const leaving = new AbortController();
  const request = new Request("https://your.example/", {
    headers: { "x-key": "slow" },
    signal: leaving.signal,
  });
  const left = respond(request);
  leaving.abort();
  expect((await left).status).toBe(500); // which nobody reads
  expect(server.requests.length).toBeLessThanOrEqual(8);
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

Deno.test("Deno warns of the signal of the server's handler, but not with the flag in README", async () => {
  await using service = await serve((_, response) => json(response, validKey));
  await using folder = await makeFolder();
  const program = `
    ${blocks("In a server")[0]}
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, respond);
    const headers = { "x-key": "some-key" };
    console.log(await (await fetch("http://127.0.0.1:" + server.addr.port, { headers })).text());
    await server.shutdown();
  `;
  await using bundled = await bundle(await folder.write("module.ts", program));
  const [, ...flags] = inline("In a server", "deno run").split(" ");
  const env = { SCAM_ADDRESS_BASE_URL: service.url };
  for (const [args, warning] of [[["run"], "request.signal aborts"], [flags, ""]] as const) {
    const permissions = ["--no-config", "--allow-net=127.0.0.1", "--allow-env"];
    const outcome = await run(deno, [...args, ...permissions, bundled.path], { env });
    expect(outcome).toMatchObject({ success: true, stdout: `${JSON.stringify(validKey)}\n` });
    if (warning) expect(outcome.stderr).toContain(warning);
    else expect(outcome.stderr).toBe("");
  }
});

const loadCheckKeys = () => load(blocks("Many keys").join("\n"));

/** Counts from 0 to below a number, as names of keys. */
function makeKeys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `key-${index}`);
}

/** Waits until requests that are under way have ended. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 50));

/** A client of a service that responds to `checkKey` after a turn of the event loop. */
function makeClient(respond: (apiKey: string, count: number) => Response | Promise<Response>) {
  const service = { count: 0 };
  const client = createClient({
    baseUrl,
    async fetch(request) {
      const { apiKey } = await request.json();
      await new Promise((resolve) => setTimeout(resolve, 1));
      return await respond(apiKey, ++service.count);
    },
  });
  return { client, service };
}

/** Responses that are about the service or its address, whatever the key is. */
const failures: Record<string, () => Response> = {
  "an outage": () => new Response(null, { status: 503, headers: { "retry-after": "61" } }),
  "a page with the status 200": () => new Response("<p>Hello"),
  "a redirect": () => new Response(null, { status: 302, headers: { location: "/login" } }),
  "the status 404": () => new Response(null, { status: 404 }),
};
for (const [name, fail] of Object.entries(failures)) {
  Deno.test(`checkKeys() gives up after ten failures in a row when there is ${name}`, async () => {
    const { checkKeys } = await loadCheckKeys();
    const { client, service } = makeClient((_, count) =>
      count === 5 ? Response.json(validKey) : fail()
    );
    const keys = makeKeys(100).flatMap((key) => [`${key}\n`, key]); // half of them malformed
    const reported: (KeyStatus | Error)[] = [];
    const report = (_: string, result: KeyStatus | Error) => void reported.push(result);
    const error = await checkKeys(client, keys, report).catch((error: unknown) => error);
    expect(error.message).toBe("Ten keys in a row failed");
    expect(error.cause).toBe(reported.at(-1));
    await settle();
    const sent = reported.filter((result) => !(result instanceof ConfigurationError));
    expect(sent.findIndex((result) => !(result instanceof Error))).toBe(sent.length - 11);
    expect(service.count).toBeLessThanOrEqual(sent.length + 8); // those that were under way
  });
}

for (const status of [400, 401, 403]) {
  Deno.test(`checkKeys() goes on when each key gets the status ${status}`, async () => {
    const { checkKeys } = await loadCheckKeys();
    const { client } = makeClient(() => new Response(null, { status }));
    let count = 0;
    await checkKeys(client, makeKeys(100), () => void count++);
    expect(count).toBe(100);
  });
}

Deno.test("checkKeys() starts and retries nothing more when a report throws", async () => {
  const { checkKeys } = await loadCheckKeys();
  const full = new Error("The disk is full");
  const headers = { "retry-after": "0" };
  const { client, service } = makeClient((apiKey) =>
    apiKey === "key-0" ? Response.json(validKey) : new Response(null, { status: 503, headers })
  );
  const report = () => Promise.reject(full);
  await expect(checkKeys(client, makeKeys(2_000), report)).rejects.toBe(full);
  const { count } = service;
  await settle();
  expect(service.count).toBeLessThanOrEqual(count + 8); // those that `fetch` had got
});

Deno.test("checkKeys() reports nothing more when its signal is aborted", async () => {
  const { checkKeys } = await loadCheckKeys();
  const stopping = new AbortController();
  const { client, service } = makeClient((_, count) => {
    if (count <= 5) return Response.json(validKey);
    setTimeout(() => stopping.abort("Ctrl-C"), 20); // when nothing else is to come
    return new Promise(() => {});
  });
  const results: unknown[] = [];
  const report = (_: string, result: unknown) => void results.push(result);
  const all = checkKeys(client, makeKeys(50), report, stopping.signal);
  expect(await all.catch((reason: unknown) => reason)).toBe("Ctrl-C");
  await settle();
  expect(service.count).toBeLessThanOrEqual(5 + 8); // no call goes on until it times out
  expect(results.length).toBeLessThanOrEqual(5);
  for (const result of results) expect(result).toEqual(validKey);
});

Deno.test("checkRest() has a result for each key after an interruption and a wrong address", async () => {
  const { checkRest } = await loadCheckKeys();
  const interrupting = new AbortController();
  await using server = await serve(({ body }, response, count) => {
    const credits = Number(JSON.parse(body).apiKey.replace("key-", ""));
    if (count === 300) interrupting.abort("Ctrl-C");
    if (count % 30 === 0) return void response.writeHead(429, { "retry-after": "0" }).end();
    if (count % 200 === 0) return void response.destroy();
    if (credits % 100 === 0) return void response.writeHead(403).end();
    setTimeout(() => json(response, { apiKeyValid: true, data: { credits } }), 1);
  });
  await using other = await serve((_, response) => void response.end("<p>Hello"));
  const keys = makeKeys(1_000);
  const results = new Map<string, KeyStatus | Error>();
  const set = results.set.bind(results);
  results.set = (key, result) => {
    expect(results.has(key)).toBe(false); // each is reported once, even one that is there twice
    return set(key, result);
  };
  const checkAt = (baseUrl: string, signal?: AbortSignal) =>
    checkRest(createClient({ baseUrl }), [...keys, "malformed\n", "key-1"], results, signal);
  await expect(checkAt(server.url, interrupting.signal).catch((reason: unknown) => reason)).resolves
    .toBe("Ctrl-C");
  const { size } = results;
  expect(size).toBeGreaterThan(200);
  await expect(checkAt(other.url)).rejects.toThrow("Ten keys in a row failed");
  expect(results.size).toBe(size);
  await checkAt(server.url);
  expect(server.requests.length).toBeLessThan(1_100); // no key was checked again
  expect(results.get("malformed\n")).toBeInstanceOf(ConfigurationError);
  for (const [index, key] of keys.entries()) {
    const result = results.get(key);
    if (index % 100 === 0) expect(result).toMatchObject({ response: { status: 403 } });
    else expect(result).toEqual({ apiKeyValid: true, data: { credits: index } });
  }
});

Deno.test("what differs from openapi-fetch is as README says", async () => {
  const heading = "Moving from openapi-fetch";
  const program = `
    import { createClient } from "@scam-address/client";
    const location = { origin: "https://service.example" };
    const baseUrl = ${inline(heading, "new URL")};
    globalThis.fetch = async (input, init) => {
      const { url, credentials } = ${inline(heading, "new Request(input")};
      console.log(url, credentials);
      return Response.json({ apiKeyValid: false });
    };
    const own = createClient({ baseUrl, fetch: (...args) => {
      console.log(args.length, args[0].credentials);
      return fetch(args[0]);
    } });
    for (const client of [createClient({ baseUrl }), own]) {
      await client.checkKey("some-key");
      client.use({ ${inline(heading, "onRequest")} });
      await client.checkKey("some-key");
    }
  `;
  const url = "https://service.example/api/checkKey";
  expect((await runOnDeno(program)).trim().split("\n")).toEqual([
    ...[`${url} same-origin`, `${url} include`],
    ...["1 same-origin", `${url} same-origin`, "1 include", `${url} include`],
  ]);
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
      "Proxies and certificates",
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
