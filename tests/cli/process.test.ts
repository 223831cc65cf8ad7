// The command as users run it: a process of its own with the permissions it needs and no others.
import { expect } from "@std/expect";
import { createSandbox } from "../../src/sandbox.ts";

const root = new URL("../../", import.meta.url);
const allowEnv = "--allow-env=SCAM_ADDRESS_API_KEY,SCAM_ADDRESS_BASE_URL";

/** What Deno is given to run the command. */
function denoArgs(permissions: string[], args: string[]): string[] {
  const options = ["--quiet", "--no-prompt", "--import-map=import_map.npm.json", ...permissions];
  return ["run", ...options, "src/cli.ts", ...args];
}

/** Starts the command; standard input is closed unless `stdin` is written to it. */
function start(permissions: string[], args: string[], env: Record<string, string> = {}) {
  return new Deno.Command(Deno.execPath(), {
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

Deno.test("src/cli.ts needs two environment variables and its host, nothing else", async () => {
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

Deno.test("src/cli.ts needs no network for --sandbox", async () => {
  const args = ["check-key", "--sandbox", "--min-credits", "101", "--json"];
  expect(await finish(start([allowEnv], args))).toEqual({
    code: 4,
    stdout: '{"ok":false,"apiKeyValid":true,"credits":100,"error":null}\n',
    stderr: "Asking the built-in sandbox, not the service\n",
  });
});

Deno.test("src/cli.ts names the permission that it lacks", async () => {
  const args = ["check-key", "--base-url", "https://service.example/"];
  const noNet = await finish(start([allowEnv], args, { SCAM_ADDRESS_API_KEY: "some-key" }));
  expect(noNet).toMatchObject({ code: 3, stdout: "" });
  expect(noNet.stderr).toMatch(/^Error \(network\): .* --allow-net flag\n$/);
  const noEnv = await finish(start([], args));
  expect(noEnv).toMatchObject({ code: 3, stdout: "" });
  expect(noEnv.stderr).toMatch(/^Error \(unexpected\): .* --allow-env flag\n$/);
});

Deno.test("src/cli.ts stays quiet when nobody reads its output", async () => {
  const child = start([allowEnv], ["check-key", "--sandbox"], { SCAM_ADDRESS_API_KEY: "x" });
  await child.stdout.cancel();
  await child.stdin.close();
  const stderr = await new Response(child.stderr).text();
  expect(await child.status).toMatchObject({ code: 1 });
  expect(stderr).toBe("Asking the built-in sandbox, not the service\n");
});

Deno.test("src/cli.ts ends quietly when it is interrupted", async () => {
  const child = start([allowEnv], ["check-key", "--sandbox"]);
  const decoder = new TextDecoder();
  let stderr = "";
  for await (const chunk of child.stderr) {
    stderr += decoder.decode(chunk, { stream: true });
    child.kill("SIGINT"); // with the first line it begins to wait for the key
  }
  expect(await child.status).toMatchObject({ success: false, signal: "SIGINT" });
  expect(stderr).toBe("Asking the built-in sandbox, not the service\n");
  await child.stdin.close();
  await child.stdout.cancel();
});

Deno.test("src/cli.ts exits with 3 when its output cannot be written", async () => {
  try {
    await Deno.stat("/dev/full");
  } catch {
    return console.log("skipped: no /dev/full to write to");
  }
  for (const redirection of [">/dev/full", "2>/dev/full"]) {
    const { code, stderr } = await new Deno.Command("sh", {
      args: [
        "-c",
        `exec "$0" "$@" ${redirection}`,
        Deno.execPath(),
        ...denoArgs([allowEnv], ["check-key", "--sandbox"]),
      ],
      cwd: root,
      env: { SCAM_ADDRESS_API_KEY: "demo-key", NO_COLOR: "1" },
    }).output();
    expect([redirection, code]).toEqual([redirection, 3]);
    const text = new TextDecoder().decode(stderr);
    if (redirection === ">/dev/full") expect(text).toMatch(/\nError \(unexpected\): [^\n]+\n$/);
  }
});
