// The command, run inside the test's own process; tests/cli/ runs it as users do.
import { expect } from "@std/expect";
import { run } from "../src/cli/command.ts";
import { version } from "../src/cli/version.ts";
import { operations } from "../src/generated/operations.ts";
import { checkKeyPath } from "./client.ts";
import { json, serve, validKey } from "./server.ts";

/** The status of a response to `checkKey`. */
const [status = ""] = Object.keys(operations[`POST ${checkKeyPath}`]!.responses!);
const ok = Number(status.replace("XX", "00"));

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

const NOTE = "Asking the built-in sandbox, not the service\n";
const DEMO_NOTE = 'Asking the built-in sandbox about "demo-key", not the service\n';
const demo = { env: { SCAM_ADDRESS_API_KEY: "demo-key" } };

Deno.test("check-key calls the service and prints validity and credits", async () => {
  await using server = await serve((_, response) => json(response, validKey, ok));
  const env = { SCAM_ADDRESS_API_KEY: "env-key", SCAM_ADDRESS_BASE_URL: server.url };
  expect(await command(["check-key"], { env, stdin: "not-read" })).toEqual({
    exit: 0,
    stdout: "The key is valid and has 100 credits\n",
    stderr: "",
  });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({
    method: "POST",
    url: checkKeyPath,
    body: '{"apiKey":"env-key"}',
  });
});

Deno.test("check-key reads the key from standard input or a variable, without line breaks", async () => {
  await using server = await serve((_, response) => json(response, validKey, ok));
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
  await using server = await serve((_, response) => json(response, validKey, ok));
  const args = ["check-key", "--base-url", server.url, "--json"];
  expect(await command(args, { stdin: pipe(2_200) })).toEqual({
    exit: 0,
    stdout: '{"ok":true,"apiKeyValid":true,"credits":100,"error":null}\n',
    stderr: "Waiting for the key: standard input has not ended\n",
  });
  expect(server.requests[0]?.body).toBe('{"apiKey":"pipe-key"}');
});

Deno.test("check-key --timeout limits all that it waits for, and says what is missing", async () => {
  await using hanging = await serve(() => {});
  const { url } = hanging;
  const cases: [Setting, string][] = [
    [{ stdin: pipe(Infinity) }, "standard input has not ended"],
    [demo, "the service has not responded"],
  ];
  await Promise.all(cases.map(async ([setting, missing]) => {
    const args = ["check-key", "--timeout", "1", "--base-url", url];
    expect(await command(args, setting)).toEqual({
      exit: 3,
      stdout: "",
      stderr: `Error (timeout): No result within 1 s: ${missing}\n`,
    });
  }));
  expect(hanging.requests.length).toBe(1);
  const args = ["check-key", "--timeout", "1", "--base-url", url, "--json"];
  const { exit, stdout } = await command(args, { stdin: pipe(Infinity) });
  expect([exit, JSON.parse(stdout)]).toEqual([3, {
    ok: false,
    apiKeyValid: null,
    credits: null,
    error: { code: "timeout", message: "No result within 1 s: standard input has not ended" },
  }]);
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

Deno.test("check-key prefers --base-url to the environment, and ends within --timeout", async () => {
  await using server = await serve((_, response) => json(response, validKey, ok));
  const env = { SCAM_ADDRESS_API_KEY: "a-key", SCAM_ADDRESS_BASE_URL: "https://service.example/" };
  const args = ["check-key", "--timeout=2147483", `--base-url=${server.url}api`];
  expect((await command(args, { env })).exit).toBe(0);
  expect(server.requests[0]?.url).toBe(`/api${checkKeyPath}`);
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

Deno.test("check-key --sandbox does not read standard input, and says which key it checks", async () => {
  for (const stdin of [undefined, "other-key\n", pipe(Infinity)]) {
    expect(await command(["check-key", "--sandbox", "--json"], { stdin })).toEqual({
      exit: 0,
      stdout: '{"ok":true,"apiKeyValid":true,"credits":100,"error":null}\n',
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
    else json(response, { apiKeyValid: "some-key" }, ok);
  });
  const setting = { env: { SCAM_ADDRESS_API_KEY: "some-key", SCAM_ADDRESS_BASE_URL: server.url } };
  const { exit, stdout, stderr } = await command(["check-key"], setting);
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: "" });
  expect(stderr).toMatch(/^Error \(http\): .* the status 403[^\n]*\n$/);
  const errors: object[] = [
    { code: "invalid_response", status: ok, issues: [{ path: expect.any(String) }] },
    { code: "http", status: 403, body: { secret: "[redacted]" }, headers: expect.any(Object) },
  ];
  for (const error of errors) {
    const { exit, stdout, stderr } = await command(["check-key", "--json"], setting);
    expect({ exit, stderr }).toEqual({ exit: 3, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      apiKeyValid: null,
      credits: null,
      error,
    });
    expect(stdout).not.toMatch(/some-key/);
  }
});

Deno.test("check-key names its own option when the address is not the service's", async () => {
  await using server = await serve((_, response) => void response.end("<html>"));
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
  const loopback = ["check-key", "--base-url", "http://127.0.0.1:9/"];
  const cases: [string[], RegExp, Setting?][] = [
    [
      ["check-key", "--retries", "-1"],
      /^Error \(usage\): Wrong arguments: the options are --base-url, /,
    ],
    [["check-key", "--retries=101"], /"--retries" must be a whole number from 0 to 100$/, {
      env: { SCAM_ADDRESS_BASE_URL: "https://service.example/" },
    }],
    [["check-key"], /No key: set "SCAM_ADDRESS_API_KEY" or write it to standard input$/, {
      env: { SCAM_ADDRESS_BASE_URL: "https://service.example/" },
    }],
    [["check-key"], /No address: use "--base-url", set "SCAM_ADDRESS_BASE_URL", or/, { env }],
    [["check-key", "--base-url", ""], /No address: /, { env }],
    [["check-key", "--base-url", "ftp://service.example"], /"--base-url" must be/, { env }],
    [
      ["check-key", "--base-url", "http://service.example"],
      /"--base-url" must be an https URL,.* "--allow-insecure-http"/,
      {
        env,
      },
    ],
    [
      ["check-key", "--sandbox", "--base-url", "x"],
      /"--sandbox" cannot have a "--base-url"$/,
    ],
    [["check-key", "--sandbox"], /^.*\nError \(configuration\): The key must be/, {
      env: { SCAM_ADDRESS_API_KEY: "key " },
    }],
    [
      ["check-key", "--sandbox"],
      /"SCAM_ADDRESS_API_KEY" has more than one key$/,
      { env: { SCAM_ADDRESS_API_KEY: "two\nkeys" } },
    ],
    ...["caf\xe9-S3CRET", "a\xc3"].map((text): [string[], RegExp, Setting] => [
      loopback,
      /^Error \(usage\): Standard input is not UTF-8 text$/,
      { stdin: Uint8Array.from(text, (letter) => letter.charCodeAt(0)) },
    ]),
    [loopback, /Standard input has more than one key$/, { stdin: "two\r\nlines\r\n" }],
    [loopback, /Standard input has more than a key$/, { stdin: "x".repeat(65537) }],
    // The address is checked before the key is waited for.
    [["check-key", "--base-url", "x"], /"--base-url" must be/, { stdin: pipe(Infinity) }],
    [["check-key"], /No address: /, { stdin: pipe(Infinity) }],
    ...["", "-1", "1.5", "1e3", "many", "9999999999999999"].map((value): [string[], RegExp] => [
      ["check-key", "--sandbox", `--min-credits=${value}`],
      /"--min-credits" must be a whole number from 0 to 9007199254740991$/,
    ]),
    ...["", "0", "1.5", "2147484", "soon"].map((value): [string[], RegExp] => [
      ["check-key", "--sandbox", "--timeout", value],
      /"--timeout" must be a whole number from 1 to 2147483$/,
    ]),
  ];
  for (const [args, message, setting] of cases) {
    const { exit, stdout, stderr } = await command(args, setting);
    expect([args, exit, stdout]).toEqual([args, 2, ""]);
    expect(stderr.trimEnd()).toMatch(message);
  }
});

Deno.test("check-key --allow-insecure-http uses http for any host", async () => {
  await using server = await serve((_, response) => json(response, validKey, ok));
  const baseUrl = server.url.replace("127.0.0.1", "0.0.0.0"); // reaches the server all the same
  const args = ["check-key", "--base-url", baseUrl, "--allow-insecure-http"];
  expect((await command(args, demo)).exit).toBe(0);
  expect((await command(args.slice(0, -1), demo)).exit).toBe(2);
});

Deno.test("the command takes no key from an argument, says why, and does not repeat it", async () => {
  const cases = [
    [],
    ["S3CRET"],
    ["S3CRET", "check-key"],
    ["--S3CRET", "check-key"],
    ["check-key", "--api-key", "S3CRET"],
    ["check-key", "--api-key=S3CRET"],
    ["check-key", "--key", "S3CRET"],
    ["check-key", "--S3CRET"],
    ["check-key", "-kS3CRET"],
    ["check-key", "S3CRET"],
    ["check-key", "--sandbox", "--", "S3CRET"],
    ["check-key", "--sandbox=S3CRET"],
    ["check-key", "--base-url"],
    ["check-key", "--base-url", "--S3CRET"],
    ["check-key", "--port", "1"],
  ];
  for (const args of cases) {
    const { exit, stdout, stderr } = await command(args, { stdin: "some-key" });
    expect([args, exit, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toMatch(
      args[0] === "check-key"
        ? /^Error \(usage\): Wrong arguments: the options are --base-url, .*, --sandbox; see --help; a key is /
        : /^Error \(usage\): No command: the first argument must be "check-key", "sandbox" or "help"; /,
    );
    expect(stderr).toMatch(/ a key is never taken from an argument, because arguments show in/);
    expect(stderr).not.toMatch(/S3CRET/);
  }
  const { exit, stdout, stderr } = await command(["check-key", "--json", "S3CRET"]);
  const error = { code: "usage", message: expect.stringMatching(/^Wrong arguments: .*; a key is/) };
  expect([exit, stderr]).toEqual([2, ""]);
  expect(JSON.parse(stdout)).toEqual({ ok: false, apiKeyValid: null, credits: null, error });
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

Deno.test("check-key does not compare a negative balance without --min-credits", async () => {
  await using server = await serve((_, response) =>
    json(response, { apiKeyValid: true, data: { credits: -5 } }, ok)
  );
  const args = ["check-key", "--base-url", server.url];
  const negative = "The key is valid and has -5 credits";
  expect(await command(args, demo)).toMatchObject({ exit: 0, stdout: `${negative}\n` });
  expect(await command([...args, "--min-credits", "0"], demo)).toMatchObject({
    exit: 4,
    stdout: `${negative}, fewer than 0\n`,
  });
});

Deno.test("sandbox exits with 2 on wrong usage and does not show a key", async () => {
  const cases: [string[], RegExp][] = [
    ...["S3CRET", "=5", "S3CRET=-5", "S3CRET=many"].map((pair): [string[], RegExp] => [
      ["--key", pair],
      /"--key" must be KEY=CREDITS, CREDITS a whole number from 0$/,
    ]),
    [["--key", "ok=1", "--key", "S3CRET☂=5"], /"--key" must be text .*: key 2 is not$/],
    [["--key", "S3CRET=99999999999999999999"], /"--key" must have whole numbers of credits from 0/],
    ...["", "1.5", "65536", "http"].map((port): [string[], RegExp] => [
      [`--port=${port}`],
      /"--port" must be a whole number from 0 to 65535$/,
    ]),
    ...[["--port", "-1"], ["--key", "--port"], ["--min-credits", "5"], ["S3CRET"], [
      "--api-key",
      "S3CRET",
    ]].map((args): [string[], RegExp] => [
      args,
      /the options are --host, --port, --key; see --help; a test key is given as "--key KEY=CREDITS"$/,
    ]),
  ];
  for (const [args, message] of cases) {
    const { exit, stdout, stderr } = await command(["sandbox", ...args]);
    expect([args, exit, stdout]).toEqual([args, 2, ""]);
    expect(stderr.trimEnd()).toMatch(message);
    expect(stderr).not.toMatch(/S3CRET/);
  }
});
