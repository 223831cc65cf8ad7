// The command, run inside the test's own process; tests/cli/ runs it as users do.
import { expect } from "@std/expect";
import { run } from "../src/cli/command.ts";
import { json, serve, validKey } from "./server.ts";

interface Setting {
  env?: Record<string, string>;
  /** The content of standard input; `undefined` for a terminal. */
  stdin?: string | Uint8Array | undefined;
}

/** Runs the command; resolves to its exit status, standard output and standard error. */
async function command(args: string[], { env = {}, stdin }: Setting = {}) {
  const written = { stdout: "", stderr: "" };
  const exit = await run(args, {
    env,
    stdin: Object.assign(terminal(stdin), { isTTY: stdin === undefined }),
    stdout: { write: (text) => written.stdout += text },
    stderr: { write: (text) => written.stderr += text },
    once() {},
  });
  return { exit, ...written };
}

/** Standard input in small pieces; reading a terminal throws. */
async function* terminal(input: Setting["stdin"]): AsyncGenerator<Uint8Array> {
  if (input === undefined) throw new Error("The command reads from a terminal");
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  for (const byte of bytes) yield Uint8Array.of(byte);
}

const NOTE = "Asking the built-in sandbox, not the service\n";

Deno.test("check-key calls the service and prints validity and credits", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const env = { SCAM_ADDRESS_API_KEY: "env-key", SCAM_ADDRESS_BASE_URL: server.url };
  expect(await command(["check-key"], { env, stdin: "not-read" })).toEqual({
    exit: 0,
    stdout: "The key is valid and has 100 credits\n",
    stderr: "",
  });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({
    method: "POST",
    url: "/checkKey",
    body: '{"apiKey":"env-key"}',
  });
});

Deno.test("check-key reads the key from standard input and trims one line break", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  for (const stdin of ["pipe-key", "pipe-key\n", "pipe-key\r\n", "\ufeffpipe-key\n"]) {
    expect((await command(["check-key", "--base-url", server.url], { stdin })).exit).toBe(0);
    expect(server.requests.pop()?.body).toBe('{"apiKey":"pipe-key"}');
  }
});

Deno.test("check-key prefers --base-url to the environment", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const env = {
    SCAM_ADDRESS_API_KEY: "some-key",
    SCAM_ADDRESS_BASE_URL: "https://service.example/",
  };
  expect((await command(["check-key", `--base-url=${server.url}api`], { env })).exit).toBe(0);
  expect(server.requests[0]?.url).toBe("/api/checkKey");
});

Deno.test("check-key exits with 1 when the key is not valid", async () => {
  const sandbox = ["check-key", "--sandbox"];
  const env = { SCAM_ADDRESS_API_KEY: "wrong-key" };
  expect(await command(sandbox, { env })).toEqual({
    exit: 1,
    stdout: "The key is not valid\n",
    stderr: NOTE,
  });
  expect(await command([...sandbox, "--json", "--min-credits=0"], { env })).toEqual({
    exit: 1,
    stdout: '{"ok":false,"apiKeyValid":false,"credits":null,"error":null}\n',
    stderr: NOTE,
  });
});

Deno.test("check-key --sandbox checks the demo key when there is none, and says so", async () => {
  for (const stdin of [undefined, "", "\n"]) {
    expect(await command(["check-key", "--sandbox", "--json"], { stdin })).toEqual({
      exit: 0,
      stdout: '{"ok":true,"apiKeyValid":true,"credits":100,"error":null}\n',
      stderr: NOTE,
    });
  }
});

Deno.test("check-key exits with 4 when credits are fewer than --min-credits", async () => {
  const sandbox = ["check-key", "--sandbox"];
  expect((await command([...sandbox, "--min-credits", "100"])).exit).toBe(0);
  expect(await command([...sandbox, "--min-credits", "101"])).toEqual({
    exit: 4,
    stdout: "The key is valid and has 100 credits, fewer than 101\n",
    stderr: NOTE,
  });
  expect(await command([...sandbox, "--min-credits", "101", "--json"])).toMatchObject({
    exit: 4,
    stdout: '{"ok":false,"apiKeyValid":true,"credits":100,"error":null}\n',
  });
});

Deno.test("check-key exits with 3 when there is no usable response", async () => {
  await using server = await serve((_, response, count) => {
    if (count === 1) json(response, { secret: "some-key" }, 403);
    else json(response, { apiKeyValid: "some-key" });
  });
  const setting = { env: { SCAM_ADDRESS_API_KEY: "some-key", SCAM_ADDRESS_BASE_URL: server.url } };
  expect(await command(["check-key"], setting)).toEqual({
    exit: 3,
    stdout: "",
    stderr: 'Error (http): "POST /checkKey" got a response with the status 403\n',
  });
  const { exit, stdout, stderr } = await command(["check-key", "--json"], setting);
  expect({ exit, stderr }).toEqual({ exit: 3, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    apiKeyValid: null,
    credits: null,
    error: { code: "invalid_response" },
  });
  expect(stdout).not.toMatch(/some-key/);
});

Deno.test("check-key says why there was no connection", async () => {
  const server = await serve(() => {});
  await server[Symbol.asyncDispose]();
  const env = { SCAM_ADDRESS_API_KEY: "some-key", SCAM_ADDRESS_BASE_URL: server.url };
  const { exit, stdout, stderr } = await command(["check-key"], { env });
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: "" });
  expect(stderr).toMatch(/^Error \(network\): "POST \/checkKey" got no response: .*refused/i);
  expect(stderr.match(/\n/g)).toHaveLength(1);
});

Deno.test("the command exits with 2 on wrong usage and says what to do", async () => {
  const env = { SCAM_ADDRESS_API_KEY: "some-key" };
  const cases: [string[], RegExp, Setting?][] = [
    [[], /No command: use "check-key" or "sandbox"; see --help$/],
    [["check-key", "--base-url"], /"--base-url <value>" argument missing$/],
    [["check-key", "--base-url", "--sandbox"], /"--base-url" argument is ambiguous$/],
    [["check-key", "--port", "1"], /"--port" is not an option of "check-key"; see --help$/],
    [["check-key", "--sandbox=yes"], /"--sandbox" does not take an argument$/],
    [["check-key"], /No key: set "SCAM_ADDRESS_API_KEY" or write the key to standard input$/, {
      env: { SCAM_ADDRESS_BASE_URL: "https://service.example/" },
    }],
    [["check-key"], /No address: use "--base-url", set "SCAM_ADDRESS_BASE_URL", or/, { env }],
    [["check-key", "--base-url", ""], /No address: /, { env }],
    [["check-key", "--base-url", "ftp://service.example"], /The address must be/, { env }],
    [
      ["check-key", "--base-url", "http://service.example"],
      /The address must be an https URL, because http does not encrypt the API key$/,
      {
        env,
      },
    ],
    [
      ["check-key", "--sandbox", "--base-url", "x"],
      /"--sandbox" and "--base-url" cannot be used together$/,
    ],
    [["check-key", "--sandbox"], /The key must be/, { stdin: "two\nlines\n" }],
    [["check-key", "--sandbox"], /Standard input has more than/, { stdin: "x".repeat(65537) }],
    ...["", "-1", "1.5", "1e3", "many", "9999999999999999"].map((value): [string[], RegExp] => [
      ["check-key", "--sandbox", `--min-credits=${value}`],
      /"--min-credits" must be a whole number from 0 to 9007199254740991$/,
    ]),
  ];
  for (const [args, message, setting] of cases) {
    const { exit, stdout, stderr } = await command(args, setting);
    expect([args, exit, stdout]).toEqual([args, 2, ""]);
    expect(stderr.replace(NOTE, "").trimEnd()).toMatch(message);
  }
});

Deno.test("the command takes no key from an argument, says why, and does not repeat it", async () => {
  const cases = [
    ["check-key", "--api-key", "S3CRET"],
    ["check-key", "--api-key=S3CRET"],
    ["check-key", "--key", "S3CRET"],
    ["check-key", "--S3CRET"],
    ["check-key", "-kS3CRET"],
    ["check-key", "S3CRET"],
    ["check-key", "--sandbox", "--", "S3CRET"],
    ["S3CRET"],
  ];
  for (const args of cases) {
    const { exit, stdout, stderr } = await command(args, { stdin: "some-key" });
    expect([args, exit, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toMatch(/a key is never taken from an argument, because arguments show in/);
    expect(stderr).not.toMatch(/S3CRET/);
  }
});

Deno.test("--json prints one object of the same shape on wrong usage", async () => {
  const { exit, stdout, stderr } = await command(["check-key", "--json", "S3CRET"]);
  expect({ exit, stderr }).toEqual({ exit: 2, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    apiKeyValid: null,
    credits: null,
    error: { code: "usage", message: expect.stringMatching(/^Too many arguments; a key is/) },
  });
});

Deno.test("--help prints to standard output and sends nothing", async () => {
  for (const args of [["--help"], ["-h"], ["check-key", "--help"]]) {
    const { exit, stdout, stderr } = await command(args);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: scam-address check-key \[options\]\n/);
  }
});

Deno.test("check-key refuses a key that is not UTF-8 and does not show it", async () => {
  const latin1 = Uint8Array.from("caf\xe9-S3CRET", (letter) => letter.charCodeAt(0));
  const cutOff = Uint8Array.from([0x61, 0xc3]);
  for (const stdin of [latin1, cutOff]) {
    expect(await command(["check-key", "--base-url", "http://127.0.0.1:9/"], { stdin })).toEqual({
      exit: 2,
      stdout: "",
      stderr: "Error (usage): Standard input is not UTF-8 text\n",
    });
  }
});

Deno.test("check-key sends a key with any letter of Latin-1", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  expect((await command(["check-key", "--base-url", server.url], { stdin: "café\n" })).exit).toBe(
    0,
  );
  expect(server.requests[0]?.body).toBe('{"apiKey":"café"}');
});

Deno.test("check-key does not compare a negative balance without --min-credits", async () => {
  const negative = { apiKeyValid: true, data: { credits: -5 } };
  await using server = await serve((_, response) => json(response, negative));
  const env = { SCAM_ADDRESS_API_KEY: "some-key", SCAM_ADDRESS_BASE_URL: server.url };
  expect(await command(["check-key"], { env })).toEqual({
    exit: 0,
    stdout: "The key is valid and has -5 credits\n",
    stderr: "",
  });
  expect(await command(["check-key", "--min-credits", "0"], { env })).toEqual({
    exit: 4,
    stdout: "The key is valid and has -5 credits, fewer than 0\n",
    stderr: "",
  });
});

Deno.test("sandbox exits with 2 on wrong usage and does not show a key", async () => {
  const cases: [string[], RegExp][] = [
    [["--host", ""], /"--host" must not be empty$/],
    [["--key", "S3CRET"], /"--key" must be KEY=CREDITS$/],
    [["--key", "=5"], /"--key" must be KEY=CREDITS$/],
    [["--key", "S3CRET=-5"], /"--key" must be KEY=CREDITS$/],
    [["--key", "ok=1", "--key", "S3CRET☂=5"], /Key 2 is empty or has a character that cannot/],
    [["--key", "S3CRET=99999999999999999999"], /The credits of key 1 must be a whole number/],
    [["--key", "--port"], /"--key" argument is ambiguous$/],
    [["--min-credits", "5"], /"--min-credits" is not an option of "sandbox"; see --help$/],
    [["S3CRET"], /Too many arguments/],
    ...["", "-1", "1.5", "65536", "http"].map((port): [string[], RegExp] => [
      [`--port=${port}`],
      /"--port" must be a whole number from 0 to 65535$/,
    ]),
  ];
  for (const [args, message] of cases) {
    const { exit, stdout, stderr } = await command(["sandbox", ...args]);
    expect([args, exit, stdout]).toEqual([args, 2, ""]);
    expect(stderr.trimEnd()).toMatch(message);
    expect(stderr).not.toMatch(/S3CRET/);
  }
});
