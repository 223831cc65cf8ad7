// The command as users run it: as a process with only the permissions that it needs.
import { expect } from "@std/expect";
import { connect } from "node:net";
import denoJson from "../../deno.json" with { type: "json" };
import { createClient } from "../../mod.ts";
import { root } from "../../scripts/support/files.ts";
import { deno, run } from "../../scripts/support/process.ts";
import { createSandbox } from "../../src/sandbox/service.ts";
import { serveSandbox } from "../../src/sandbox/server.ts";
import { checkKeyPath, undocumented } from "../client.ts";

const allowEnv = "--allow-env=SCAM_ADDRESS_API_KEY,SCAM_ADDRESS_BASE_URL";

/** What Deno is given to run the command. */
function denoArgs(permissions: string[], args: string[]): string[] {
  const options = ["--quiet", "--no-prompt", "--import-map=import_map.npm.json", ...permissions];
  return ["run", ...options, "src/cli/main.ts", ...args];
}

/** Starts the command; standard input is closed unless `stdin` is written to it. */
function start(permissions: string[], args: string[], env: Record<string, string> = {}) {
  return new Deno.Command(deno, {
    args: denoArgs(permissions, args),
    cwd: root,
    env: { SCAM_ADDRESS_API_KEY: "", SCAM_ADDRESS_BASE_URL: "", NO_COLOR: "1", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function finish(child: Deno.ChildProcess, stdin = "") {
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(stdin));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Runs `check-key --sandbox` from a shell, with words before and after the command. */
function shell(before: string, after = "") {
  const command = [deno, ...denoArgs([allowEnv], ["check-key", "--sandbox"])];
  const env = { SCAM_ADDRESS_API_KEY: "demo-key" };
  return run("sh", ["-c", `${before} exec "$0" "$@" ${after}`, ...command], { cwd: root, env });
}

Deno.test("src/cli/main.ts needs only two environment variables and its host", async () => {
  const { fetch } = createSandbox({ keys: { "some-key": 1 } });
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, fetch);
  const host = `127.0.0.1:${server.addr.port}`;
  const args = ["check-key", "--base-url", `http://${host}/api/`];
  const child = start([allowEnv, `--allow-net=${host}`], args);
  expect(await finish(child, "some-key\n")).toEqual({
    code: 0,
    stdout: "The key is valid and has 1 credit\n",
    stderr: "",
  });
});

Deno.test("src/cli/main.ts needs no network for --sandbox", async () => {
  const args = ["check-key", "--sandbox", "--min-credits", "101", "--json"];
  expect(await finish(start([allowEnv], args))).toEqual({
    code: 4,
    stdout: '{"ok":false,"apiKeyValid":true,"credits":100,"error":null}\n',
    stderr: 'Asking the built-in sandbox about "demo-key", not the service\n',
  });
});

Deno.test("src/cli/main.ts ends while its standard input is open", async () => {
  const address = ["--base-url", "http://127.0.0.1:9/"];
  const cases: [string[], number, RegExp][] = [
    [["check-key", "--sandbox"], 0, /^Asking the built-in sandbox about "demo-key"/],
    [["check-key", "--timeout", "1", ...address], 3, /^Error \(timeout\): No result within 1 s: /],
    [["check-key"], 2, /^Error \(usage\): No address/],
  ];
  for (const [args, code, message] of cases) {
    const child = start([allowEnv], args);
    expect([args, (await child.status).code]).toEqual([args, code]);
    expect(await new Response(child.stderr).text()).toMatch(message);
    await child.stdout.cancel();
    await child.stdin.close();
  }
});

Deno.test("src/cli/main.ts --help and its documentation have the same exit statuses", async () => {
  const rows = (text: string, pattern: RegExp) =>
    [...text.replaceAll("`", "").matchAll(pattern)].map(([, status, meaning]) => [status, meaning]);
  const { stdout } = await finish(start([], ["--help"]));
  const source = await Deno.readTextFile(`${root}/src/cli/main.ts`);
  const statuses = rows(stdout, /^ {2}(\d) {2}(.+)$/gm);
  expect(statuses.map(([status]) => status)).toEqual(["0", "1", "2", "3", "4"]);
  expect(rows(source, /^ \* \| (\d) \| (.+) \|$/gm)).toEqual(statuses);
});

Deno.test("src/cli/main.ts --version prints deno.json's version; deno task version copies it", async () => {
  const expected = { code: 0, stdout: `${denoJson.version}\n`, stderr: "" };
  expect(await finish(start([], ["--version"]))).toEqual(expected);
});

Deno.test("src/cli/main.ts does not show a key in the environment that is not Unicode", async () => {
  if (Deno.build.os === "windows") {
    return console.log("skipped: all environment variables are Unicode on Windows");
  }
  const { code, stdout, stderr } = await shell(`SCAM_ADDRESS_API_KEY=$(printf 'caf\\351-S3CRET')`);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe('Error (usage): "SCAM_ADDRESS_API_KEY" is not valid Unicode\n');
});

Deno.test("src/cli/main.ts names a missing permission", async () => {
  const args = ["check-key", "--base-url", "https://service.example/"];
  const env = { SCAM_ADDRESS_API_KEY: "some-key" };
  const { code, stderr } = await finish(start([allowEnv], args, env));
  expect(code).toBe(3);
  expect(stderr).toMatch(/^Error \(network\): .* --allow-net flag\n$/);
  const noEnv = await finish(start([], args));
  expect(noEnv.code).toBe(3);
  expect(noEnv.stderr).toMatch(/^Error \(unexpected\): .* --allow-env flag\n$/);
  const noListen = await finish(start([], ["sandbox"]));
  expect(noListen.code).toBe(3);
  expect(noListen.stderr).toMatch(
    /^Error \(listen\): "--host" .*: Requires net access to "127.0.0.1:0", .* --allow-net flag\n$/,
  );
});

Deno.test("serveSandbox() rejects without a permission, and can be caught", async () => {
  const code = `import { serveSandbox } from "${
    import.meta.resolve("../../src/sandbox/server.ts")
  }";
    const error = await serveSandbox(undefined, { host: Deno.args[0] }).catch((error) => error);
    console.log(error.code, error.option, error.message);`;
  const url = `data:application/typescript,${encodeURIComponent(code)}`;
  const options = ["--quiet", "--no-prompt", "--no-check", "--import-map=import_map.npm.json"];
  for (
    const [host, ...permissions] of [["127.0.0.1"], ["::1"], ["localhost", "--allow-net=localhost"]]
  ) {
    const args = ["run", ...options, ...permissions, url, host!];
    const { stdout, stderr } = await run(deno, args, { cwd: root });
    expect(stderr).toBe("");
    const message =
      `configuration host "host" "${host}" cannot be listened on: Requires net access`;
    expect(stdout).toContain(message);
  }
});

Deno.test("src/cli/main.ts stays quiet when its output is not read", async () => {
  const child = start([allowEnv], ["check-key", "--sandbox"], { SCAM_ADDRESS_API_KEY: "x" });
  await child.stdout.cancel();
  await child.stdin.close();
  const stderr = await new Response(child.stderr).text();
  expect(await child.status).toMatchObject({ code: 1 });
  expect(stderr).toBe("Asking the built-in sandbox, not the service\n");
});

Deno.test("src/cli/main.ts ends quietly when it is interrupted", async () => {
  const child = start([allowEnv], ["check-key", "--base-url", "http://127.0.0.1:9/"]);
  const decoder = new TextDecoder();
  let stderr = "";
  for await (const chunk of child.stderr) {
    stderr += decoder.decode(chunk, { stream: true });
    child.kill("SIGINT"); // with the first line it waits for the key
  }
  expect(await child.status).toMatchObject({ success: false, signal: "SIGINT" });
  expect(stderr).toBe("Waiting for the key: standard input has not ended\n");
  await child.stdin.close();
  await child.stdout.cancel();
});

Deno.test("src/cli/main.ts exits with 3 when its output cannot be written", async () => {
  try {
    await Deno.stat("/dev/full");
  } catch {
    return console.log("skipped: no /dev/full to write to");
  }
  for (const redirection of [">/dev/full", "2>/dev/full"]) {
    const { code, stderr } = await shell("", redirection);
    expect([redirection, code]).toEqual([redirection, 3]);
    if (redirection === ">/dev/full") expect(stderr).toMatch(/\nError \(unexpected\): [^\n]+\n$/);
  }
});

/** Starts `sandbox`; resolves to its address and what it prints next. */
async function startSandbox(...args: string[]) {
  const child = start(["--allow-net=127.0.0.1"], ["sandbox", ...args]);
  await child.stdin.close();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  const [, url = ""] = /^The sandbox listens on (http:\S+\/) until Ctrl-C\n$/.exec(value!)!;
  return {
    child,
    url,
    /** Waits for the end. */
    async end() {
      let printed = "";
      for (let part; (part = await reader.read()) && !part.done;) printed += part.value;
      const stderr = await new Response(child.stderr).text();
      return { ...await child.status, printed, stderr };
    },
  };
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`src/cli/main.ts sandbox serves until ${signal}, with open connections`, async () => {
    const { child, url, end } = await startSandbox("--key", "S3CRET=7", "--key", "other=0");
    const client = createClient({ baseUrl: `${url}api/`, apiKey: "S3CRET", retries: 0 });
    expect(await client.checkKey("S3CRET")).toEqual({ apiKeyValid: true, data: { credits: 7 } });
    expect(await client.checkKey("demo-key")).toEqual({ apiKeyValid: false });
    const query = { page: "1" };
    const missing = client.call("GET", undocumented, { query });
    await expect(missing).rejects.toMatchObject({ status: 404 });

    const idle = connect(Number(new URL(url).port), "127.0.0.1");
    const half = connect(Number(new URL(url).port), "127.0.0.1");
    const closed = [idle, half].map((socket) => {
      socket.on("error", () => {}).resume();
      return new Promise((resolve) => socket.on("close", resolve));
    });
    const post = `POST /api${checkKeyPath} 2..\n`;
    const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    half.write(`${head}Content-Length: 9\r\n\r\n{`);
    await client.checkKey("S3CRET"); // the server has seen the other two
    child.kill(signal);
    await Promise.all(closed);
    expect(await end()).toEqual({
      success: true,
      code: 0,
      signal: null,
      printed: expect.stringMatching(`^${post}${post}GET /api/${undocumented} 404\n${post}$`),
      stderr: "",
    });
  });
}

Deno.test("src/cli/main.ts sandbox listens on the given port, or exits with 3 and says why", async () => {
  let port: string;
  {
    await using server = await serveSandbox();
    port = new URL(server.url).port;
    const taken = start(["--allow-net=127.0.0.1"], ["sandbox", "--port", port]);
    expect(await finish(taken)).toEqual({
      code: 3,
      stdout: "",
      stderr: `Error (listen): "--port" ${port} is in use on "127.0.0.1"; ` +
        "choose another one, or 0 for any free port\n",
    });
  }
  const { child, url, end } = await startSandbox("--port", port, "--host", "127.0.0.1");
  expect(url).toBe(`http://127.0.0.1:${port}/`);
  child.kill();
  expect(await end()).toMatchObject({ code: 0, printed: "", stderr: "" });
});
