// The command, run inside the test's own process; tests/cli/ runs it as users do.
import { expect } from "@std/expect";
import { Readable } from "node:stream";
import { DEMO_KEY } from "../src/sandbox/service.ts";
import { checkKeyPath } from "./support/client.ts";
import { run, version } from "./support/internals.ts";
import { demoCredits, json, serve, serveValid } from "./support/server.ts";

interface Setting {
  env?: Record<string, string>;
  /** The content of standard input, or a stream of it; by default it is empty. */
  stdin?: string | Uint8Array | Readable;
  isTTY?: boolean;
}

/**
 * Runs the command in a process that gets each signal that it listens for; resolves to its exit status,
 * standard output and standard error.
 */
async function command(args: string[], { env = {}, stdin = "", isTTY = false }: Setting = {}) {
  const written = { stdout: "", stderr: "" };
  const process = {
    env,
    stdin: Object.assign(stdin instanceof Readable ? stdin : trickle(stdin), { isTTY }),
    stdout: { write: (text: string) => written.stdout += text },
    stderr: { write: (text: string) => written.stderr += text },
    once: (_signal: string, listener: () => void) => listener(),
  };
  const exit = await run(args, process as unknown as Parameters<typeof run>[1]);
  return { exit, ...written };
}

/** Standard input in small pieces. */
function trickle(input: string | Uint8Array): Readable {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  return Readable.from(Array.from(bytes, (byte) => Uint8Array.of(byte)), { objectMode: false });
}

/** A standard input that begins with a text, and never ends. */
function pipe(text: string): Readable {
  const stream = new Readable({ read() {} });
  stream.push(text);
  return stream;
}

/** What `--json` prints when there is no result. */
const reported = (error: unknown) => ({ ok: false, apiKeyValid: null, credits: null, error });

/** A setting with a key in the environment. */
const keyed = (key: string): Setting => ({ env: { SCAM_ADDRESS_API_KEY: key } });
const demo = keyed(DEMO_KEY);

Deno.test("check-key calls the service, at --base-url first, and prints validity and credits", async () => {
  await using server = await serveValid();
  const env = { SCAM_ADDRESS_API_KEY: "env-key", SCAM_ADDRESS_BASE_URL: server.url };
  const { exit, stdout, stderr } = await command(["check-key"], { env, stdin: "not-read" });
  const words = `The key is valid and has ${demoCredits} credits\n`;
  expect([exit, stdout, stderr]).toEqual([0, words, ""]);
  const sent = { method: "POST", url: checkKeyPath, body: '{"apiKey":"env-key"}' };
  expect(server.requests).toMatchObject([sent]);
  const args = ["check-key", "--timeout=2147483", `--base-url=${server.url}api`];
  const other = { ...env, SCAM_ADDRESS_BASE_URL: "https://service.example/" };
  expect((await command(args, { env: other })).exit).toBe(0);
  expect(server.requests[1]!.url).toBe(`/api${checkKeyPath}`);
  expect((await command(["check-key", "--base-url="], { env })).exit).toBe(2); // It was given.
});

Deno.test("check-key reads the key from the first line of standard input or a variable, trimmed", async () => {
  await using server = await serveValid();
  const settings: Setting[] = [
    ...["a key", "a key\r\n", " \ta key \n", "\ufeffa key\nmore"].map((stdin) => ({ stdin })),
    ...["a key", "\n a key\r\n"].map((text) => ({ ...keyed(text), isTTY: true })),
    { stdin: pipe("a key\n"), isTTY: true },
  ];
  for (const setting of settings) {
    const stderr = setting.isTTY && setting.stdin ? "Type the key and press Enter\n" : "";
    expect(await command(["check-key", "--base-url", server.url], setting))
      .toMatchObject({ exit: 0, stderr });
    expect(server.requests.pop()?.body).toBe('{"apiKey":"a key"}');
  }
});

Deno.test("check-key --timeout limits the whole check, even reading the key", async () => {
  await using hanging = await serve(() => {});
  const args = ["check-key", "--timeout", "1", "--base-url", hanging.url];
  const isLate = expect.stringMatching(/^Error \(timeout\): [^\n]+ 1000 ms[^\n]*\n$/);
  const hasNoKey = expect.stringMatching(/^Error \(usage\): No key arrived .* within 1 s; /);
  const settings = [demo, { stdin: "some-key" }, { stdin: pipe("no line") }];
  expect(await Promise.all(settings.map((setting) => command(args, setting)))).toEqual([
    { exit: 3, stdout: "", stderr: isLate },
    { exit: 3, stdout: "", stderr: isLate },
    { exit: 2, stdout: "", stderr: hasNoKey },
  ]);
});

Deno.test("check-key ends after 30 s without --timeout", async () => {
  const original = globalThis.setTimeout;
  const setTimeout = (listener: () => void, delay = 0) => original(listener, delay / 100);
  globalThis.setTimeout = setTimeout as typeof original;
  try {
    const args = ["check-key", "--base-url", "http://127.0.0.1:9/"];
    const { stderr } = await command(args, { stdin: pipe("no line") });
    expect(stderr).toContain("within 30 s");
  } finally {
    globalThis.setTimeout = original;
  }
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
  const json = (ok: boolean, apiKeyValid: boolean, credits: number | null) =>
    JSON.stringify({ ok, apiKeyValid, credits, error: null });
  const more = demoCredits + 1;
  const valid = `The key is valid and has ${demoCredits} credits`;
  const pending = { stdin: pipe("not-read") };
  const wrong = keyed("wrong-key");
  const cases: [string, Setting, number, string][] = [
    ["--json", pending, 0, json(true, true, demoCredits)],
    [`--min-credits ${demoCredits}`, demo, 0, valid],
    [`--min-credits ${more}`, demo, 4, `${valid}, fewer than ${more}`],
    [`--min-credits ${more} --json`, demo, 4, json(false, true, demoCredits)],
    ["--retries 0", wrong, 5, "The key is not valid"],
    ["--min-credits 0 --json", wrong, 5, json(false, false, null)],
  ];
  for (const [options, setting, exit, report] of cases) {
    const ended = await command(["check-key", "--sandbox", ...options.split(" ")], setting);
    const key = setting.env ? 'the key in "SCAM_ADDRESS_API_KEY"' : `"${DEMO_KEY}"`;
    const stderr = `Checking ${key} with the built-in sandbox, not the service\n`;
    expect(ended).toEqual({ exit, stdout: `${report}\n`, stderr });
  }
});

Deno.test("check-key compares credits only with a minimum that was given", async () => {
  const owing = { apiKeyValid: true, data: { credits: -1 } };
  await using server = await serve((_, response) => json(response, owing));
  const args = ["check-key", "--base-url", server.url];
  expect((await command(args, demo)).exit).toBe(0);
  expect((await command([...args, "--min-credits=0"], demo)).exit).toBe(4);
});

Deno.test("check-key exits with 3 when there is no usable response, and says why", async () => {
  await using server = await serve(({ url }, response) => {
    if (url === checkKeyPath) json(response, { apiKeyValid: "some-key" });
    else json(response, { apiKey: "some-key" }, 403);
  });
  const closed = await serve(() => {});
  await closed[Symbol.asyncDispose]();
  const cases: [address: string, code: string, fields: object][] = [
    [server.url, "invalid_response", { issues: [{ path: expect.any(String) }] }],
    [`${server.url}api`, "http", { name: "HttpError", response: { status: 403 } }],
    [closed.url, "network", { isTemporary: true }],
  ];
  for (const [address, code, fields] of cases) {
    const setting = { env: { SCAM_ADDRESS_API_KEY: "some-key", SCAM_ADDRESS_BASE_URL: address } };
    const words = await command(["check-key", "--retries=0"], setting);
    expect(words).toMatchObject({ exit: 3, stdout: "" });
    expect(words.stderr.replace(code, "CODE")).toMatch(/^Error \(CODE\): [^\n]+\n$/);
    const { exit, stdout, stderr } = await command(["check-key", "--retries=0", "--json"], setting);
    expect([exit, stderr]).toEqual([3, ""]);
    expect(JSON.parse(stdout)).toMatchObject(reported({ code, ...fields }));
    expect(words.stderr + stdout).not.toMatch(/some-key/);
  }
});

Deno.test("the command prints messages as one line without control characters", async () => {
  const body = "\r\n\x7f\x9b\u2028\u202e\x1b[2J\u{e0001}☂";
  await using server = await serve((_, response) => void response.writeHead(402).end(body));
  const args = ["check-key", `--base-url=${server.url}`];
  expect((await command(args, demo)).stderr).toMatch(/^[ -~☂]+\n$/);
  const { stdout } = await command([...args, "--json"], demo);
  expect(stdout).toMatch(/^[ -~☂]+\n$/);
  expect(JSON.parse(stdout).error.response.body).toBe(body);
});

Deno.test("an error of another kind has the code unexpected", async () => {
  const env = {
    get SCAM_ADDRESS_API_KEY(): string {
      throw new TypeError("No access");
    },
  };
  const stderr = "Error (unexpected): No access\n";
  expect(await command(["check-key"], { env })).toEqual({ exit: 3, stdout: "", stderr });
  const { stdout } = await command(["check-key", "--json"], { env });
  const error = { name: "TypeError", code: "unexpected", message: "No access" };
  expect(JSON.parse(stdout)).toEqual(reported(error));
});

/** Asserts that arguments, divided by "|", make the command exit with 2, name a part, and show no key. */
async function expectUsage(base: string, parts: Record<string, string>, setting?: Setting) {
  for (const [all, part] of Object.entries(parts)) {
    for (const line of all.split(" | ")) {
      const args = `${base} ${line}`.split(" ").filter(Boolean);
      const { exit, stdout, stderr } = await command(args, setting);
      expect([line, exit, stdout]).toEqual([line, 2, ""]);
      expect(stderr).toMatch(/^Error \((usage|configuration)\): [^\n]+$/m);
      expect(stderr).toContain(part);
      expect(stderr).not.toMatch(/S3CRET/);
    }
  }
}

Deno.test("check-key exits with 2 on wrong usage and says what to do", async () => {
  const loopback = "check-key --base-url http://127.0.0.1:9/";
  await expectUsage("check-key --sandbox", {
    "--min-credits= | --min-credits=-1 | --min-credits 1e3": '"--min-credits" must be',
    "--timeout= | --timeout=-1 | --timeout 1.5": '"--timeout" must be',
    "--timeout 0 | --timeout 2147484": '"totalTimeout" must be',
    "--retries=-1 | --retries=": '"--retries" must be',
    "--retries 101": '"retries" must be',
    "--base-url | --base-url --S3CRET": "--base-url",
    "--sandbox=S3CRET": "--sandbox",
    "--constructor": "--constructor",
    "--base-url x": '"--base-url"',
  });
  // The address is checked before the command waits for the key.
  await expectUsage("check-key", {
    "--timeout 9 | --base-url=": '"baseUrl" is missing',
    "--base-url ftp://service.example": '"baseUrl" must be',
    "--base-url http://a.example": '"allowInsecureHttp"',
  }, { stdin: pipe("no line") });
  const notUtf8 = Uint8Array.from("caf\xe9-S3CRET", (letter) => letter.charCodeAt(0));
  const keys: [Setting, string][] = [
    [{ ...keyed(" "), stdin: "another-key" }, '"SCAM_ADDRESS_API_KEY" is empty'], // It is not read.
    [{}, "standard input is empty"],
    [{ stdin: "\r\nS3CRET" }, "standard input is empty"],
    [{ stdin: notUtf8 }, '"apiKey" must be'],
    [keyed("two\nS3CRETS"), '"apiKey" must be'],
  ];
  for (const [setting, part] of keys) await expectUsage(loopback, { "": part }, setting);
});

Deno.test("check-key --allow-insecure-http uses http for any host", async () => {
  await using server = await serveValid();
  const baseUrl = server.url.replace("127.0.0.1", "0.0.0.0"); // It reaches the server all the same.
  const args = ["check-key", "--base-url", baseUrl, "--allow-insecure-http"];
  expect((await command(args, demo)).exit).toBe(0);
  expect((await command(args.slice(0, -1), demo)).exit).toBe(2);
});

Deno.test("the command takes no key from an argument, and does not repeat it", async () => {
  await expectUsage("", {
    " | S3CRET | S3CRET check-key | --S3CRET check-key": "check-key or sandbox; see --help",
  });
  await expectUsage("check-key", {
    "--retires 1": "'--retires'",
    "--api-key S3CRET | --api-key=S3CRET": "'--api-key'",
    "S3CRET | --sandbox -- S3CRET": "argument",
    "-kS3CRET": "'-k'",
  });
  const { exit, stdout, stderr } = await command(["check-key", "--json", "Option '--json'"]);
  const error = { name: "CommandError", code: "usage", message: expect.any(String) };
  expect([exit, stderr, JSON.parse(stdout)]).toEqual([2, "", reported(error)]);
});

Deno.test("--help and --version print to standard output", async () => {
  const lines = ["--help", "-h", "help", "help sandbox", "check-key --help", "sandbox -h -v"];
  for (const line of lines) {
    const { exit, stdout, stderr } = await command(line.split(" "));
    expect([line, exit, stderr]).toEqual([line, 0, ""]);
    expect(stdout).toMatch(/^Usage: scam-address /);
  }
  for (const args of [["--version"], ["-v"], ["sandbox", "-v"]]) {
    expect(await command(args)).toEqual({ exit: 0, stdout: `${version}\n`, stderr: "" });
  }
});

Deno.test("sandbox prints its address, and its valid key unless --key gives others", async () => {
  const cases: [args: string[], host: string, lines: string][] = [
    [[], "127.0.0.1", `Its valid key is "${DEMO_KEY}", with ${demoCredits} credits\n`],
    [["--key=a===1"], "127.0.0.1", ""],
    [["--key=a===1", "--host=0.0.0.0"], "0.0.0.0", ""],
  ];
  for (const [args, host, lines] of cases) {
    const { exit, stdout } = await command(["sandbox", ...args]);
    const first = `Sandbox listening on http://${host}:0/ (press Ctrl-C to stop)\n`;
    expect([exit, stdout.replace(/:\d+\//, ":0/")]).toEqual([0, first + lines]);
  }
});

Deno.test("sandbox exits with 2 on wrong usage and does not show a key", async () => {
  await expectUsage("sandbox", {
    "--min-credits 5": "'--min-credits'",
    "S3CRET": "argument",
    "--key S3CRET | --key =5 | --key S3CRET=-5 | --key S3CRET=many | --key S3CRET=": '"--key" must',
    "--port= | --port=1.5": '"--port" must be',
    "--port=65536": '"port" must be',
    "--key ok=1 --key S3CRET☂=5": '"keys" must be',
  });
});
