// The command, run inside the test's own process; tests/cli/ runs it as users do.
import { expect } from "@std/expect";
import { networkInterfaces } from "node:os";
import { changeOperation, checkKeyPath } from "./support/client.ts";
import { run, version } from "./support/internals.ts";
import { json, serve, validKey } from "./support/server.ts";

interface Setting {
  env?: Record<string, string>;
  /** The content of standard input, or its chunks; by default it is empty. */
  stdin?: string | Uint8Array | AsyncGenerator<Uint8Array>;
  isTTY?: boolean;
  pid?: number;
}

/**
 * Runs the command in a process that gets each signal that it listens for; resolves to its exit status,
 * standard output and standard error.
 */
async function command(args: string[], setting: Setting = {}) {
  const { env = {}, stdin = "", isTTY = false, pid = 2 } = setting;
  const written = { stdout: "", stderr: "" };
  const exit = await run(args, {
    env,
    pid,
    exit: (status) => written.stderr += `exit(${status})\n`,
    stdin: Object.assign(read(stdin), { isTTY }),
    stdout: { write: (text) => written.stdout += text },
    stderr: { write: (text) => written.stderr += text },
    once: (_signal, listener) => listener(),
  });
  return { exit, ...written };
}

/** Standard input in small pieces. */
async function* read(input: NonNullable<Setting["stdin"]>): AsyncGenerator<Uint8Array> {
  if (typeof input === "object" && Symbol.asyncIterator in input) return yield* input;
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  for (const byte of bytes) yield Uint8Array.of(byte);
}

/** A standard input that never ends after a line. */
async function* pipe(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("pipe-key\n");
  await new Promise(() => {});
}

/** A standard input with an endless line. */
async function* endless(): AsyncGenerator<Uint8Array> {
  while (true) yield await Promise.resolve(new Uint8Array(1_024).fill(65));
}

/** What `--json` prints when there is no result. */
const reported = (error: unknown) => ({ ok: false, apiKeyValid: null, credits: null, error });

const NOTE =
  'Checking the key in "SCAM_ADDRESS_API_KEY" with the built-in sandbox, not the service\n';
const DEMO_NOTE = 'Checking "demo-key" with the built-in sandbox, not the service\n';
const VALID = '{"ok":true,"apiKeyValid":true,"credits":100,"error":null}';

/** A setting with a key in the environment. */
const keyed = (key: string): Setting => ({ env: { SCAM_ADDRESS_API_KEY: key } });
const demo = keyed("demo-key");

Deno.test("check-key calls the service, at --base-url first, and prints validity and credits", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const env = { SCAM_ADDRESS_API_KEY: "env-key", SCAM_ADDRESS_BASE_URL: server.url };
  const { exit, stdout, stderr } = await command(["check-key"], { env, stdin: "not-read" });
  expect([exit, stdout, stderr]).toEqual([0, expect.stringMatching(/ 100 credits\n$/), ""]);
  const sent = { method: "POST", url: checkKeyPath, body: '{"apiKey":"env-key"}' };
  expect(server.requests).toMatchObject([sent]);
  const args = ["check-key", "--timeout=2147483", `--base-url=${server.url}api`];
  const other = { ...env, SCAM_ADDRESS_BASE_URL: "https://service.example/" };
  expect((await command(args, { env: other })).exit).toBe(0);
  expect(server.requests[1]!.url).toBe(`/api${checkKeyPath}`);
});

Deno.test("check-key reads the key from standard input or a variable, without white space around it", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const texts = ["a key", "a key\r\n", "a key\r", "\n a key\t\n\r\n"];
  const prompt = "Type the key, Enter and Ctrl-D (on Windows, Ctrl-Z and Enter)\n";
  const settings: Setting[] = [{ stdin: "\ufeffa key" }, { stdin: "a key\n", isTTY: true }];
  for (const text of texts) settings.push({ stdin: text }, { ...keyed(text), isTTY: true });
  for (const setting of settings) {
    const stderr = setting.isTTY && setting.stdin ? prompt : "";
    expect(await command(["check-key", "--json", "--base-url", server.url], setting))
      .toEqual({ exit: 0, stdout: `${VALID}\n`, stderr });
    expect(server.requests.pop()?.body).toBe('{"apiKey":"a key"}');
  }
});

Deno.test("check-key --timeout limits the whole check, even reading the key", async () => {
  await using hanging = await serve(() => {});
  const args = ["check-key", "--timeout", "1", "--base-url", hanging.url];
  const noKey = /^Error \(usage\): No key arrived: standard input did not end within 1 s; a key /;
  const isLate = expect.stringMatching(/^Error \(timeout\): [^\n]+\n$/);
  expect(await command(args, demo)).toEqual({ exit: 3, stdout: "", stderr: isLate });
  const stderr = expect.stringMatching(noKey);
  expect(await command(args, { stdin: pipe() })).toEqual({ exit: 2, stdout: "", stderr });
});

Deno.test("check-key --retries limits how often the request is sent again", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(503, { "retry-after": "0" }).end();
  });
  for (const retries of [0, 3]) {
    await command(["check-key", `--retries=${retries}`, `--base-url=${server.url}`], demo);
    expect(server.requests.splice(0).length).toBe(retries + 1);
  }
});

Deno.test("check-key exits with 0, 4 or 5, and reports in words or with --json", async () => {
  const wrong = keyed("wrong-key");
  const invalid = '{"ok":false,"apiKeyValid":false,"credits":null,"error":null}';
  const tooFew = '{"ok":false,"apiKeyValid":true,"credits":100,"error":null}';
  const cases: [string, Setting, number, string, string?][] = [
    ["--json", {}, 0, VALID, DEMO_NOTE],
    ["--json", { stdin: pipe() }, 0, VALID, DEMO_NOTE],
    ["--min-credits 100", demo, 0, "The key is valid and has 100 credits"],
    ["--min-credits 101", demo, 4, "The key is valid and has 100 credits, fewer than 101"],
    ["--min-credits 101 --json", demo, 4, tooFew],
    ["--retries 0", wrong, 5, "The key is not valid"],
    ["--min-credits 0 --json", wrong, 5, invalid],
  ];
  for (const [options, setting, exit, report, stderr = NOTE] of cases) {
    const args = ["check-key", "--sandbox", ...options.split(" ")];
    expect(await command(args, setting)).toEqual({ exit, stdout: `${report}\n`, stderr });
  }
});

Deno.test("check-key compares credits with a minimum that was given, and exits with 3 if they are unknown", async () => {
  const unchecked = { responses: { "2XX": () => undefined } };
  using _operation = changeOperation(`POST ${checkKeyPath}`, unchecked);
  const cases: [object, number, string][] = [
    [{ credits: -1 }, 4, "-1 credits, fewer than 0"],
    [{}, 3, "an unknown number of credits"],
  ];
  for (const [data, exit, has] of cases) {
    await using server = await serve((_, response) => json(response, { apiKeyValid: true, data }));
    const args = ["check-key", "--base-url", server.url];
    expect((await command(args, demo)).exit).toBe(0);
    const stdout = expect.stringMatching(`${has}\n$`);
    expect(await command([...args, "--min-credits=0"], demo)).toEqual({ exit, stdout, stderr: "" });
    const printed = await command([...args, "--min-credits=0", "--json"], demo);
    const report = { ok: false, apiKeyValid: true, credits: null, error: null, ...data };
    expect(JSON.parse(printed.stdout)).toEqual(report);
  }
});

Deno.test("check-key exits with 3 when there is no usable response, and says why", async () => {
  await using server = await serve(({ url }, response) => {
    if (url === checkKeyPath) json(response, { apiKeyValid: "some-key" });
    else if (url.startsWith("/missing/")) json(response, 'check "toString"', 404); // It is no flag.
    else if (url.startsWith("/html/")) response.end("<html>");
    else json(response, { apiKey: "some-key" }, 403);
  });
  const closed = await serve(() => {});
  await closed[Symbol.asyncDispose]();
  const issues = [{ path: expect.any(String) }];
  const forbidden = { body: { apiKey: "[redacted]" }, headers: expect.any(Object), status: 403 };
  const cases: [string, RegExp, object][] = [
    [server.url, /^Error \(invalid_response\)/, { name: "InvalidResponseError", issues }],
    // The service sends a name that the library has.
    [`${server.url}api`, /: \{"apiKey":"\[redacted\]"\}\n$/, { response: forbidden }],
    [`${server.url}html`, /not JSON .*: check "--base-url"\n$/, { code: "invalid_response" }],
    [`${server.url}missing`, /"--base-url".*: check "toString"/, { response: { status: 404 } }],
    [closed.url, /^Error \(network\)/, { code: "network", isTemporary: true }],
  ];
  for (const [address, reason, error] of cases) {
    const setting = { env: { SCAM_ADDRESS_API_KEY: "some-key", SCAM_ADDRESS_BASE_URL: address } };
    const words = await command(["check-key", "--retries=0"], setting);
    expect(words).toMatchObject({ exit: 3, stdout: "" });
    expect(words.stderr).toMatch(/^Error \([a-z_]+\): [^\n]+\n$/);
    expect(words.stderr).toMatch(reason);
    const printed = await command(["check-key", "--retries=0", "--json"], setting);
    expect(printed).toMatchObject({ exit: 3, stderr: "" });
    expect(JSON.parse(printed.stdout)).toMatchObject(reported(error));
    expect(words.stderr + printed.stdout).not.toMatch(/some-key|baseUrl/);
  }
});

Deno.test("the command prints messages as one line without control characters", async () => {
  const unreadable = {
    get SCAM_ADDRESS_API_KEY(): string {
      const message = "no\r\n\taccess\u2028 \x1b[2J\x9b\u202e\u200b\u{e0001}!";
      throw Object.assign(new Error(message), { name: "NotCapable" }); // Deno's have this name.
    },
  };
  const args = ["check-key", "--base-url", "http://127.0.0.1:9/"];
  const stderr = "Error (unexpected): no access [2J !\n";
  expect(await command(args, { env: unreadable })).toEqual({ exit: 3, stdout: "", stderr });
  const { stdout } = await command([...args, "--json"], { env: unreadable });
  const error = { name: "NotCapable", code: "unexpected", message: "no access [2J !" };
  expect(JSON.parse(stdout)).toEqual(reported(error));

  const body = "\x7f\x9b\u2028\u202e\u{e0001}☂";
  await using server = await serve((_, response) => void response.writeHead(402).end(body));
  const printed = await command(["check-key", "--json", `--base-url=${server.url}`], demo);
  expect(printed.stdout).toMatch(/^[ -~☂]+\n$/);
  expect(JSON.parse(printed.stdout).error.response.body).toBe(body);
});

/** Asserts that arguments, divided by "|", make the command exit with 2, and show no key. */
async function expectUsage(base: string, messages: Record<string, RegExp>, setting?: Setting) {
  for (const [all, message] of Object.entries(messages)) {
    for (const line of all.split(" | ")) {
      const text = [base, line].filter(Boolean).join(" ");
      const args = text ? text.split(" ") : [];
      const { exit, stdout, stderr } = await command(args, setting);
      expect([line, exit, stdout]).toEqual([line, 2, ""]);
      expect(stderr.trimEnd()).toMatch(message);
      expect(stderr).not.toMatch(/S3CRET/);
    }
  }
}

Deno.test("check-key exits with 2 on wrong usage and says what to do", async () => {
  const loopback = "check-key --base-url http://127.0.0.1:9/";
  const noAddress = /: No address: use "--base-url", set "SCAM_ADDRESS_BASE_URL", or try "--sandb/;
  await expectUsage("check-key --sandbox", {
    "--min-credits= | --min-credits=-1 | --min-credits 1e3 | --min-credits 9999999999999999":
      /: "--min-credits" must be a whole number from 0 to 9007199254740991$/,
    "--timeout 0 | --timeout 1.5 | --timeout 2147484":
      /: "--timeout" must be a whole number from 1 to 2147483$/,
    "--retries 101 | --retries=-1": /: "--retries" must be a whole number from 0 to 100$/,
    "--base-url | --base-url --S3CRET":
      /^Error \(usage\): "--base-url" needs a value: the options are /,
    "--retries -1 | --retries": /: "--retries" needs a value: /,
    "--sandbox=S3CRET": /: "--sandbox" takes no value: /,
    "--constructor": /: Unknown option "--constructor": the options are /,
    "--base-url x": /: "--sandbox" and "--base-url" cannot be combined$/,
  });
  await expectUsage("check-key", {
    "--timeout 9 | --base-url ": noAddress,
    "--base-url ftp://service.example": /: "--base-url" must be/,
    "--base-url http://a.example": /: "--base-url" must .* "--allow-insecure-http"/,
  }, { stdin: pipe() }); // The address is checked before the command waits for the key.
  await expectUsage("check-key", { "": noAddress }, { env: { SCAM_ADDRESS_BASE_URL: "" } });
  const isEmpty = /: No key: "SCAM_ADDRESS_API_KEY" is empty; a key is never taken from/;
  const noKey = /: No key: standard input is empty; a key is never taken from/;
  const malformed = /^Error \(configuration\): The key must be/;
  const notUtf8 = Uint8Array.from("caf\xe9-S3CRET", (letter) => letter.charCodeAt(0));
  const keys: [Setting, RegExp][] = [
    [{ ...keyed(""), stdin: "another-key" }, isEmpty], // Standard input is not read.
    [keyed("\r\n"), isEmpty],
    [{}, noKey],
    [{ stdin: "\r\n" }, noKey],
    [{ stdin: endless() }, /: Standard input is too long to be a key$/],
    [{ stdin: "x".repeat(65_536) }, malformed],
    [{ stdin: notUtf8 }, malformed],
    [{ stdin: "two\r\nS3CRETS\r\n" }, /: The key in standard input contains a line break$/],
    [keyed("two\nS3CRETS"), /: The key in "SCAM_ADDRESS_API_KEY" contains a line break$/],
  ];
  for (const [setting, message] of keys) await expectUsage(loopback, { "": message }, setting);
});

Deno.test("check-key --allow-insecure-http uses http for any host", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  const baseUrl = server.url.replace("127.0.0.1", "0.0.0.0"); // It reaches the server all the same.
  const args = ["check-key", "--base-url", baseUrl, "--allow-insecure-http"];
  expect((await command(args, demo)).exit).toBe(0);
  expect((await command(args.slice(0, -1), demo)).exit).toBe(2);
});

Deno.test("the command takes no key from an argument, says why, and does not repeat it", async () => {
  const why = "a key is never taken from an argument, because arguments show in process lists";
  const because = (problem: string) => RegExp(`: ${problem}: the [^:]+; see --help; ${why}`);
  const noCommand = "S3CRET | S3CRET check-key | --S3CRET check-key | --json-S3CRET";
  await expectUsage("", {
    "": because("No command"),
    [noCommand]: because("There is no such command"),
  });
  await expectUsage("check-key", {
    "--retires 1": because('Unknown option "--retires"'),
    "--api-key S3CRET | --key=S3CRET | --port 1 | --no-json": because('Unknown option "--[a-z-]+"'),
    "S3CRET | -kS3CRET | --sandbox -- S3CRET | --S3CRET=--json | --key-S3CRET": because(
      "Wrong arguments",
    ),
    "--abcdefghijklmnopqrstu | --abcdefghijklmnopqrstu=1": because("Wrong arguments"), // They are too long.
  });
  const { exit, stdout, stderr } = await command(["check-key", "--json", "Option '--json'"]);
  const message = expect.stringMatching(/^Wrong arguments: /);
  const error = { name: "CommandError", code: "usage", message };
  expect([exit, stderr, JSON.parse(stdout)]).toEqual([2, "", reported(error)]);
});

Deno.test("check-key ends at a signal as the first process of a container", async () => {
  const { stderr } = await command(["check-key", "--sandbox"], { ...demo, pid: 1 });
  expect(stderr).toBe(`exit(130)\nexit(143)\n${NOTE}`);
});

Deno.test("--help and --version print to standard output", async () => {
  const lines = ["--help", "-h", "help", "help sandbox", "check-key --help", "sandbox -h -v"];
  for (const line of lines) {
    const { exit, stdout, stderr } = await command(line.split(" "));
    expect([line, exit, stderr]).toEqual([line, 0, ""]);
    expect(stdout).toMatch(/^Usage: scam-address check-key \[options\]\n/);
  }
  for (const args of [["--version"], ["-v"], ["sandbox", "-v"]]) {
    expect(await command(args)).toEqual({ exit: 0, stdout: `${version}\n`, stderr: "" });
  }
});

Deno.test("sandbox prints its address, and its valid key unless --key gives others", async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((list = []) => list)
    .filter(({ family, internal }) => family === "IPv4" && !internal);
  const urls = addresses.map(({ address }) => `http://${address}:0/`).join(" or ");
  const cases: [args: string[], lines: string][] = [
    [[], 'Its valid key is "demo-key", with 100 credits\n'],
    [["--key=a===1"], ""],
    [["--key=a===1", "--host=0.0.0.0"], urls && `Other machines can use ${urls}\n`],
  ];
  for (const [args, lines] of cases) {
    const { exit, stdout } = await command(["sandbox", ...args]);
    const first = "Sandbox listening on http://127.0.0.1:0/ (press Ctrl-C to stop)\n";
    expect([exit, stdout.replaceAll(/:\d+\//g, ":0/")]).toEqual([0, first + lines]);
  }
});

Deno.test("sandbox exits with 2 on wrong usage and does not show a key", async () => {
  await expectUsage("sandbox", {
    "--min-credits 5 | S3CRET":
      /: the options are --host, --port, --key; see --help; to add a test key, use "--key KEY/,
    "--key S3CRET | --key =5 | --key S3CRET=-5 | --key S3CRET=many":
      /: "--key" must be KEY=CREDITS, CREDITS a whole number from 0$/,
    "--port= | --port=1.5 | --port=65536": /: "--port" must be a whole number from 0 to 65535$/,
    "--key ok=1 --key S3CRET☂=5": /: "--key" must be keys that a header can carry/,
  });
});
