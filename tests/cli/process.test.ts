// The command as users run it: as a process with only the permissions that it needs.
import { expect } from "@std/expect";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import denoJson from "../../deno.json" with { type: "json" };
import { createClient } from "../../mod.ts";
import { root } from "../../scripts/support/files.ts";
import { deno, run } from "../../scripts/support/process.ts";
import { createSandbox, DEMO_KEY } from "../../src/sandbox/service.ts";
import { finish } from "../process/support.ts";
import { checkKeyPath, undocumented } from "../support/client.ts";
import { EXIT, HELP } from "../support/internals.ts";
import { demoCredits } from "../support/server.ts";

const allowEnv = "--allow-env=SCAM_ADDRESS_API_KEY,SCAM_ADDRESS_BASE_URL";
const main = "src/cli/main.ts";

// Whoever runs the tests may have set these.
for (const name of ["SCAM_ADDRESS_API_KEY", "SCAM_ADDRESS_BASE_URL"]) Deno.env.delete(name);

/** What Deno is given to run the command, or another module. */
function denoArgs(permissions: string[], args: string[], module = main): string[] {
  const options = ["--quiet", "--no-prompt", "--no-check", "--config=deno.json"];
  return ["run", ...options, ...permissions, module, ...args];
}

/** The processes of the current test. */
const children = new Set<Deno.ChildProcess>();

Deno.test.afterEach(async () => {
  for (const child of children) await child[Symbol.asyncDispose](); // After a failure, one runs on.
  children.clear();
});

/** Starts the command in the project's folder. */
function start(permissions: string[], args: string[], env = {}, module = main): Deno.ChildProcess {
  const piped = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  const signal = AbortSignal.timeout(20_000); // Something may keep it from ending.
  const options = { cwd: root, env: { NO_COLOR: "1", ...env }, signal, ...piped };
  const command = { args: denoArgs(permissions, args, module), ...options };
  const child = new Deno.Command(deno, command).spawn();
  children.add(child);
  return child;
}

Deno.test("src/cli/main.ts needs few permissions, and names one that is missing", async () => {
  const { fetch } = createSandbox({ keys: { "some-key": 1 } });
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, fetch);
  const host = `127.0.0.1:${server.addr.port}`;
  const check = ["check-key", "--base-url", `http://${host}/api/`];
  const sandbox = ["check-key", "--sandbox", `--min-credits=${demoCredits + 1}`];
  const tooFew = expect.stringContaining("fewer than");
  const listens = /^Error \(configuration\): "host" .* "--allow-net" for 127.0.0.1:0/;
  const credit = expect.stringMatching(/ 1 credit\n$/);
  const cases: [string[], string[], number, unknown, RegExp][] = [
    [[], ["--version"], 0, `${denoJson.version}\n`, /^$/],
    [[], ["sandbox"], 2, "", listens],
    [[], check, 3, "", /^Error \(unexpected\): .* --allow-env flag\n$/],
    [[allowEnv], check, 3, "", /^Error \(network\): .* --allow-net flag\n$/],
    [[allowEnv, `--allow-net=${host}`], check, 0, credit, /^$/],
    [[allowEnv], sandbox, 4, tooFew, RegExp(DEMO_KEY)],
  ];
  await Promise.all(cases.map(async ([permissions, args, code, stdout, stderr]) => {
    const ended = await finish(start(permissions, args), "some-key\n");
    expect(ended).toEqual({ code, stdout, stderr: expect.stringMatching(stderr) });
  }));
});

Deno.test("src/cli/main.ts ends while its standard input is open", async () => {
  const address = ["--base-url", "http://127.0.0.1:9/"];
  const cases: [string[], number, RegExp][] = [
    [["check-key", "--sandbox"], 0, RegExp(DEMO_KEY)],
    [["check-key", "--timeout=1", ...address], 2, /^Error \(usage\): No key arrived/],
    [["check-key"], 2, /^Error \(configuration\): "baseUrl" is missing/],
  ];
  await Promise.all(cases.map(async ([args, code, message]) => {
    const child = start([allowEnv], args);
    expect([args, (await child.status).code]).toEqual([args, code]);
    expect(await new Response(child.stderr).text()).toMatch(message);
    await child.stdout.cancel();
    await child.stdin.close();
  }));
});

Deno.test("src/cli/main.ts exits with 3 after an error that nobody catches", async () => {
  const url = new URL(`../../${main}`, import.meta.url).href;
  const thrown = ["queueMicrotask(() => { throw Error('x'); })", "Promise.reject(Error('x'))"];
  const failures = [...thrown, thrown.join(";")]; // Only the first is reported.
  await Promise.all(failures.map(async (code) => {
    const module = `data:text/javascript,${encodeURIComponent(`import "${url}"; ${code};`)}`;
    const env = { SCAM_ADDRESS_API_KEY: "wrong-key" };
    const ended = await finish(start([allowEnv], ["check-key", "--sandbox"], env, module));
    expect(ended).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^(Error \(unexpected\): x\n|Checking .*\n){2}$/),
    });
  }));
});

Deno.test({
  name: "src/cli/main.ts exits with 3 when its output fails (needs /dev/full)",
  ignore: !existsSync("/dev/full"),
  async fn() {
    const command = [deno, ...denoArgs([allowEnv], ["check-key", "--sandbox"])];
    const options = { cwd: root, env: { SCAM_ADDRESS_API_KEY: DEMO_KEY } };
    const cases: [string, RegExp][] = [
      ['exec "$0" "$@" >/dev/full', /\nError \(unexpected\): [^\n]+\n$/],
      ['exec "$0" "$@" 2>/dev/full', /^$/],
    ];
    for (const [script, message] of cases) {
      const ended = await run("sh", ["-c", script, ...command], options);
      expect([script, ended.code]).toEqual([script, 3]);
      expect(ended.stderr).toMatch(message);
    }
  },
});

Deno.test("src/cli/main.ts stays quiet when its output is not read", async () => {
  const child = start([allowEnv], ["check-key", "--sandbox"], { SCAM_ADDRESS_API_KEY: "x" });
  await child.stdout.cancel();
  await child.stdin.close();
  expect(await new Response(child.stderr).text()).toMatch(/^Checking [^\n]+\n$/);
  expect((await child.status).code).toBe(5);
});

Deno.test("--help lists the exit statuses that the command has", () => {
  const statuses = Object.values(EXIT).map(String).sort();
  expect(HELP.match(/(?<=^ {2})\d(?= )/gm)).toEqual(statuses);
});

Deno.test({
  name: "src/cli/main.ts sandbox serves until a signal, or says why it does not",
  ignore: Deno.build.os === "windows", // It delivers no signals.
  async fn() {
    let port = "0";
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const permissions = ["--allow-net=127.0.0.1"];
      const args = ["sandbox", "--key=S3CRET=7", "--key=other=0", "--port"];
      const child = start(permissions, [...args, port]);
      const output = child.stdout.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
      const { value } = await output.next();
      const [, url = ""] = /^Sandbox listening on (http:\S+\/) /.exec(value!)!;
      port = new URL(url).port; // It is free again the next time.
      const client = createClient({ baseUrl: `${url}api/`, apiKey: "S3CRET", retries: 0 });
      const { code, stderr } = await finish(start(permissions, [...args, port]));
      expect(code).toBe(2);
      expect(stderr).toMatch(/^Error \(configuration\): "port" cannot be listened on: [^\n]+\n$/);

      const half = connect(Number(port), "127.0.0.1").resume();
      const closed = new Promise((resolve) => half.on("error", () => {}).on("close", resolve));
      half.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{");
      expect(await client.checkKey("S3CRET")).toEqual({ apiKeyValid: true, data: { credits: 7 } });
      expect(await client.checkKey(DEMO_KEY)).toEqual({ apiKeyValid: false });
      const missing = client.call("GET", undocumented, { query: { page: "1" } });
      await expect(missing).rejects.toMatchObject({ response: { status: 404 } });
      child.kill(signal);
      await closed;
      const post = `POST /api${checkKeyPath} 200\n`;
      expect((await Array.fromAsync(output)).join(""))
        .toBe(`${post}${post}GET /api/${undocumented} 404\n`);
      await child.stdin.close();
      expect(await new Response(child.stderr).text()).toBe("");
      expect((await child.status).code).toBe(0);
    }
  },
});
