// The command, run inside the test's own process; tests/cli/ runs it as users do.
import { expect } from "@std/expect";
import { run } from "../src/cli/command.ts";
import { version } from "../src/cli/version.ts";
import { checkKeyPath } from "./client.ts";
import { checkKeyStatus, json, serve, validKey } from "./server.ts";

interface Setting {
  env?: Record<string, string>;
  /** The content of standard input, or its chunks; `undefined` for a terminal. */
  stdin?: string | Uint8Array | AsyncGenerator<Uint8Array> | undefined;
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
  if (typeof input === "object" && Symbol.asyncIterator in input) return yield* input;
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  for (const byte of bytes) yield Uint8Array.of(byte);
}

/** A standard input that ends late, or never. */
async function* pipe(time: number): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("pipe-key\n");
  await new Promise((resolve) => time < Infinity && setTimeout(resolve, time));
}

/** What `--json` prints when there is no result. */
const reported = (error: unknown) => ({ ok: false, apiKeyValid: null, credits: null, error });

const NOTE = "Asking the built-in sandbox, not the service\n";
const DEMO_NOTE = 'Asking the built-in sandbox about "demo-key", not the service\n';
const VALID = '{"ok":true,"apiKeyValid":true,"credits":100,"error":null}\n';
const demo = { env: { SCAM_ADDRESS_API_KEY: "demo-key" } };

Deno.test("check-key calls the service, at --base-url first, and prints validity and credits", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const env = { SCAM_ADDRESS_API_KEY: "env-key", SCAM_ADDRESS_BASE_URL: server.url };
  expect(await command(["check-key"], { env, stdin: "not-read" })).toEqual({
    exit: 0,
    stdout: "The key is valid and has 100 credits\n",
    stderr: "",
  });
  const sent = { method: "POST", url: checkKeyPath, body: '{"apiKey":"env-key"}' };
  expect(server.requests).toMatchObject([sent]);
  const args = ["check-key", "--timeout=2147483", `--base-url=${server.url}api`];
  const other = { ...env, SCAM_ADDRESS_BASE_URL: "https://service.example/" };
  expect((await command(args, { env: other })).exit).toBe(0);
  expect(server.requests[1]!.url).toBe(`/api${checkKeyPath}`);
});

Deno.test("check-key reads the key from standard input or a variable, without line breaks", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  for (const text of ["a key", "a key\n", "a key\r\n", "a key\r", "\na key\n\r\n"]) {
    for (const setting of [{ stdin: text }, { env: { SCAM_ADDRESS_API_KEY: text } }]) {
      expect((await command(["check-key", "--base-url", server.url], setting)).exit).toBe(0);
      expect(server.requests.pop()?.body).toBe('{"apiKey":"a key"}');
    }
  }
  for (const stdin of ["\ufeffcafé\n", "café"]) {
    expect((await command(["check-key", "--base-url", server.url], { stdin })).exit).toBe(0);
    expect(server.requests.pop()?.body).toBe('{"apiKey":"café"}');
  }
});

Deno.test("check-key says that it waits for standard input, when this takes long", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const args = ["check-key", "--base-url", server.url, "--json"];
  expect(await command(args, { stdin: pipe(2_200) })).toEqual({
    exit: 0,
    stdout: VALID,
    stderr: "Waiting for the key: standard input has not ended\n",
  });
  expect(server.requests[0]?.body).toBe('{"apiKey":"pipe-key"}');
});

Deno.test("check-key --timeout limits all that it waits for, and says what is missing", async () => {
  await using hanging = await serve(() => {});
  const { url } = hanging;
  const inputs: [Setting, string][] = [
    [{ stdin: pipe(Infinity) }, "No result within 1 s: standard input has not ended"],
    [demo, "No result within 1 s: the service has not responded"],
  ];
  const args = ["check-key", "--timeout", "1", "--base-url", url];
  await Promise.all(inputs.map(async ([setting, message]) => {
    const stderr = `Error (timeout): ${message}\n`;
    expect(await command(args, setting)).toEqual({ exit: 3, stdout: "", stderr });
  }));
  expect(hanging.requests.length).toBe(1);
  const [, message] = inputs[0]!;
  const { exit, stdout } = await command([...args, "--json"], { stdin: pipe(Infinity) });
  expect([exit, JSON.parse(stdout)]).toEqual([3, reported({ code: "timeout", message })]);
});

Deno.test("check-key says when the service asks to wait for longer than --timeout", async () => {
  await using server = await serve((_, response) => {
    response.setHeader("Retry-After", "30");
    json(response, { error: "Too many requests" }, 429);
  });
  const args = ["check-key", "--timeout", "5", "--base-url", server.url];
  const { exit, stdout, stderr } = await command(args, demo);
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: "" });
  expect(stderr).toMatch(
    /^Error \(http\): .*429.*; the service asked to wait 30 s, more than is left/,
  );
  expect(server.requests).toHaveLength(1);
  const printed = await command([...args, "--json"], demo);
  expect(JSON.parse(printed.stdout)).toMatchObject({
    error: { code: "http", status: 429, retryAfter: 30, body: { error: "Too many requests" } },
  });
});

Deno.test("check-key --retries limits how often the request is sent again", async () => {
  await using server = await serve((_, response) => {
    response.setHeader("Retry-After", "0");
    json(response, {}, 503);
  });
  for (const [retries, requests] of [["0", 1], ["3", 4]] as const) {
    const args = ["check-key", "--timeout", "20", "--retries", retries, "--base-url", server.url];
    expect((await command(args, demo)).exit).toBe(3);
    expect(server.requests.splice(0)).toHaveLength(requests);
  }
});

Deno.test("check-key exits with 1 when the key is not valid", async () => {
  const sandbox = ["check-key", "--sandbox"];
  const env = { SCAM_ADDRESS_API_KEY: "wrong-key" };
  const stdout = "The key is not valid\n";
  expect(await command(sandbox, { env })).toEqual({ exit: 1, stdout, stderr: NOTE });
  expect(await command([...sandbox, "--json", "--min-credits=0"], { env })).toMatchObject({
    exit: 1,
    stdout: '{"ok":false,"apiKeyValid":false,"credits":null,"error":null}\n',
  });
});

Deno.test("check-key --sandbox does not read standard input, and says which key it checks", async () => {
  for (const stdin of [undefined, "other-key\n", pipe(Infinity)]) {
    expect(await command(["check-key", "--sandbox", "--json"], { stdin })).toEqual({
      exit: 0,
      stdout: VALID,
      stderr: DEMO_NOTE,
    });
  }
  expect((await command(["check-key", "--sandbox"], demo)).stderr).toBe(NOTE);
});

Deno.test("check-key exits with 4 when credits are fewer than --min-credits", async () => {
  const sandbox = ["check-key", "--sandbox"];
  expect((await command([...sandbox, "--min-credits", "100"])).exit).toBe(0);
  expect(await command([...sandbox, "--min-credits", "101"])).toEqual({
    exit: 4,
    stdout: "The key is valid and has 100 credits, fewer than 101\n",
    stderr: DEMO_NOTE,
  });
  expect(await command([...sandbox, "--min-credits", "101", "--json"])).toMatchObject({
    exit: 4,
    stdout: '{"ok":false,"apiKeyValid":true,"credits":100,"error":null}\n',
  });
});

Deno.test("check-key exits with 3 when there is no usable response, and --json has its fields", async () => {
  await using server = await serve((_, response, count) => {
    if (count % 2) json(response, { secret: "some-key" }, 403);
    else json(response, { apiKeyValid: "some-key" });
  });
  const setting = { env: { SCAM_ADDRESS_API_KEY: "some-key", SCAM_ADDRESS_BASE_URL: server.url } };
  const { exit, stdout, stderr } = await command(["check-key"], setting);
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: "" });
  expect(stderr).toMatch(/^Error \(http\): .* the status 403[^\n]*\n$/);
  const errors: object[] = [
    { code: "invalid_response", status: checkKeyStatus, issues: [{ path: expect.any(String) }] },
    { code: "http", status: 403, body: { secret: "[redacted]" }, headers: expect.any(Object) },
  ];
  for (const error of errors) {
    const { exit, stdout, stderr } = await command(["check-key", "--json"], setting);
    expect({ exit, stderr }).toEqual({ exit: 3, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject(reported(error));
    expect(stdout).not.toMatch(/some-key/);
  }
});

Deno.test("check-key names its own option when the address is not the service's", async () => {
  await using server = await serve((_, response) => void json(response, {}, 404));
  const { exit, stderr } = await command(["check-key", "--base-url", server.url], demo);
  expect(exit).toBe(3);
  expect(stderr).toMatch(/"--base-url"/);
  expect(stderr).not.toMatch(/baseUrl/);
});

Deno.test("check-key says why there was no connection", async () => {
  const server = await serve(() => {});
  await server[Symbol.asyncDispose]();
  const env = { SCAM_ADDRESS_API_KEY: "some-key", SCAM_ADDRESS_BASE_URL: server.url };
  const { exit, stdout, stderr } = await command(["check-key"], { env });
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: "" });
  expect(stderr).toMatch(/^Error \(network\): .* got no response: .*refused/i);
  expect(stderr.match(/\n/g)).toHaveLength(1);
});

Deno.test("the command exits with 2 on wrong usage and says what to do", async () => {
  const env = { SCAM_ADDRESS_API_KEY: "some-key" };
  const keyless = { env: { SCAM_ADDRESS_BASE_URL: "https://service.example/" } };
  const keyed = (key: string) => ({ env: { SCAM_ADDRESS_API_KEY: key } });
  const sandbox = "check-key --sandbox";
  const loopback = "check-key --base-url http://127.0.0.1:9/";
  const notUtf8 = Uint8Array.from("caf\xe9-S3CRET", (letter) => letter.charCodeAt(0));
  const cases: [string, RegExp, Setting?][] = [
    ["check-key --retries -1", /^Error \(usage\): Wrong arguments: the options are --base-url, /],
    ["check-key --retries=101", /"--retries" must be a whole number from 0 to 100$/, keyless],
    ["check-key", /No key: set "SCAM_ADDRESS_API_KEY" or write it to standard input$/, keyless],
    ["check-key", /No address: use "--base-url", set "SCAM_ADDRESS_BASE_URL", or/, { env }],
    ["check-key --base-url ", /No address: /, { env }],
    ["check-key --base-url ftp://service.example", /"--base-url" must be/, { env }],
    ["check-key --base-url http://a.example", /"--base-url" must .* "--allow-insecure-http"/, {
      env,
    }],
    [`${sandbox} --base-url x`, /"--sandbox" cannot have a "--base-url"$/],
    [sandbox, /^.*\nError \(configuration\): The key must be/, keyed("key ")],
    [sandbox, /"SCAM_ADDRESS_API_KEY" has more than one key$/, keyed("two\nkeys")],
    [loopback, /^Error \(usage\): Standard input is not UTF-8 text$/, { stdin: notUtf8 }],
    [loopback, /Standard input is not UTF-8 text$/, { stdin: Uint8Array.of(0x61, 0xc3) }],
    [loopback, /Standard input has more than one key$/, { stdin: "two\r\nlines\r\n" }],
    [loopback, /Standard input has more than a key$/, { stdin: "x".repeat(65537) }],
    // The address is checked before the key is waited for.
    ["check-key --base-url x", /"--base-url" must be/, { stdin: pipe(Infinity) }],
    ["check-key", /No address: /, { stdin: pipe(Infinity) }],
    ...["", "-1", "1e3", "9999999999999999"].map((value): [string, RegExp] => [
      `${sandbox} --min-credits=${value}`,
      /"--min-credits" must be a whole number from 0 to 9007199254740991$/,
    ]),
    ...["0", "1.5", "2147484"].map((value): [string, RegExp] => [
      `${sandbox} --timeout ${value}`,
      /"--timeout" must be a whole number from 1 to 2147483$/,
    ]),
  ];
  for (const [line, message, setting] of cases) {
    const { exit, stdout, stderr } = await command(line.split(" "), setting);
    expect([line, exit, stdout]).toEqual([line, 2, ""]);
    expect(stderr.trimEnd()).toMatch(message);
    expect(stderr).not.toMatch(/S3CRET/);
  }
});

Deno.test("check-key --allow-insecure-http uses http for any host", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const baseUrl = server.url.replace("127.0.0.1", "0.0.0.0"); // reaches the server all the same
  const args = ["check-key", "--base-url", baseUrl, "--allow-insecure-http"];
  expect((await command(args, demo)).exit).toBe(0);
  expect((await command(args.slice(0, -1), demo)).exit).toBe(2);
});

Deno.test("the command takes no key from an argument, says why, and does not repeat it", async () => {
  const wrong = `^Error \\(usage\\): Wrong arguments: the options are --base-url, .*, --sandbox; `;
  const none =
    '^Error \\(usage\\): No command: the first argument must be "check-key", "sandbox" or ';
  const cases: Record<string, string[]> = {
    [none]: ["", "S3CRET", "S3CRET check-key", "--S3CRET check-key"],
    [wrong]: [
      ...["check-key --api-key S3CRET", "check-key --key=S3CRET", "check-key -kS3CRET"],
      ...["check-key S3CRET", "check-key --sandbox -- S3CRET", "check-key --sandbox=S3CRET"],
      ...["check-key --base-url", "check-key --base-url --S3CRET", "check-key --port 1"],
    ],
  };
  for (const [message, lines] of Object.entries(cases)) {
    for (const line of lines) {
      const args = line.split(" ").filter(Boolean);
      const { exit, stdout, stderr } = await command(args, { stdin: "some-key" });
      expect([line, exit, stdout]).toEqual([line, 2, ""]);
      expect(stderr).toMatch(new RegExp(message));
      expect(stderr).toMatch(/ a key is never taken from an argument, because arguments show in/);
      expect(stderr).not.toMatch(/S3CRET/);
    }
  }
  const { exit, stdout, stderr } = await command(["check-key", "--json", "S3CRET"]);
  const error = { code: "usage", message: expect.stringMatching(/^Wrong arguments: .*; a key is/) };
  expect([exit, stderr]).toEqual([2, ""]);
  expect(JSON.parse(stdout)).toEqual(reported(error));
});

Deno.test("--help and --version print to standard output and send nothing", async () => {
  for (const line of ["--help", "-h", "help", "help sandbox", "help -v", "check-key --help"]) {
    const { exit, stdout, stderr } = await command(line.split(" "));
    expect([line, exit, stderr]).toEqual([line, 0, ""]);
    expect(stdout).toMatch(/^Usage: scam-address check-key \[options\]\n/);
    expect(stdout.split("\n").filter((line) => line.length > 90)).toEqual([]);
  }
  for (const args of [["--version"], ["-v"], ["sandbox", "-v"]]) {
    expect(await command(args)).toEqual({ exit: 0, stdout: `${version}\n`, stderr: "" });
  }
});

Deno.test("sandbox exits with 2 on wrong usage and does not show a key", async () => {
  const list =
    /the options are --host, --port, --key; see --help; a test key is given as "--key KEY/;
  const pair = /"--key" must be KEY=CREDITS, CREDITS a whole number from 0$/;
  const port = /"--port" must be a whole number from 0 to 65535$/;
  const cases: [RegExp, string[]][] = [
    [pair, ["--key S3CRET", "--key =5", "--key S3CRET=-5", "--key S3CRET=many"]],
    [/"--key" must be text .*: key 2 is not$/, ["--key ok=1 --key S3CRET☂=5"]],
    [/"--key" must have whole numbers of credits from 0/, ["--key S3CRET=99999999999999999999"]],
    [port, ["--port=", "--port=1.5", "--port=65536"]],
    [list, ["--port -1", "--key --port", "--min-credits 5", "S3CRET", "--api-key S3CRET"]],
  ];
  const each = cases.flatMap(([message, lines]) => lines.map((line) => [message, line] as const));
  for (const [message, line] of each) {
    const { exit, stdout, stderr } = await command(["sandbox", ...line.split(" ")]);
    expect([line, exit, stdout]).toEqual([line, 2, ""]);
    expect(stderr.trimEnd()).toMatch(message);
    expect(stderr).not.toMatch(/S3CRET/);
  }
});
