import { createInterface } from "node:readline";
import { createClient } from "../client.ts";
import { ScamAddressError, TimeoutError } from "../http/errors.ts";
import { serveSandbox } from "../sandbox/server.ts";
import { createSandbox, DEMO_KEY } from "../sandbox/service.ts";
import { escapeUnseen, toLine } from "../http/text.ts";
import { CommandError, FLAGS, parseFlags, parseNumber, type Values } from "./arguments.ts";
import { DEFAULT_TIMEOUT, EXIT, HELP } from "./help.ts";
import { version } from "./version.ts";

/** The parts of `node:process` that the command uses. */
type CommandProcess = Pick<NodeJS.Process, "env" | "stdin" | "stdout" | "stderr" | "once">;

const KEY_VARIABLE = "SCAM_ADDRESS_API_KEY";
const KEY_ADVICE = `set "${KEY_VARIABLE}", or write the key to standard input`;

/** Takes the key out of a text that may have white space around it. */
function readKey(text: string, source: string): string {
  const key = text.trim();
  if (!key) throw new CommandError(`No key: ${source} is empty; ${KEY_ADVICE}`);
  return key;
}

/** Reads the first line of standard input. */
async function readLine({ stdin, stderr }: CommandProcess): Promise<string> {
  if (stdin.isTTY) stderr.write("Type the key and press Enter\n");
  for await (const line of createInterface({ input: stdin })) return line;
  return "";
}

/** Checks the key with the service, or with the sandbox. */
async function checkKey(process: CommandProcess, flags: Values<typeof FLAGS["check-key"]>) {
  const seconds = parseNumber("timeout", flags.timeout) ?? DEFAULT_TIMEOUT;
  const options = {
    allowInsecureHttp: flags["allow-insecure-http"],
    retries: parseNumber("retries", flags.retries),
    totalTimeout: seconds * 1_000,
  };
  const variable = process.env[KEY_VARIABLE];
  let key = variable === undefined ? undefined : readKey(variable, `"${KEY_VARIABLE}"`);
  if (flags.sandbox) {
    if (flags["base-url"]) throw new CommandError('"--sandbox" excludes "--base-url"');
    const name = key ? `the key in "${KEY_VARIABLE}"` : `"${DEMO_KEY}"`;
    process.stderr.write(`Checking ${name} with the built-in sandbox, not the service\n`);
    const sandbox = { baseUrl: "http://localhost/", fetch: createSandbox().fetch };
    return await createClient({ ...options, ...sandbox, apiKey: key ?? DEMO_KEY }).checkOwnKey();
  }
  const baseUrl = flags["base-url"] ?? process.env["SCAM_ADDRESS_BASE_URL"] ?? "";
  // A function, so that the address is checked first, and reading the key counts toward `totalTimeout`.
  const apiKey = key ?? (async () => key = readKey(await readLine(process), "standard input"));
  return await createClient({ ...options, baseUrl, apiKey }).checkOwnKey().catch((error) => {
    if (key || !(error instanceof TimeoutError)) throw error;
    throw new CommandError(`No key arrived on standard input within ${seconds} s; ${KEY_ADVICE}`);
  });
}

/** Runs `check-key`. */
async function runCheckKey(process: CommandProcess, args: string[]): Promise<number> {
  const flags = parseFlags(args, FLAGS["check-key"]);
  const minCredits = parseNumber("min-credits", flags["min-credits"]) ?? -Infinity;
  const status = await checkKey(process, flags);
  const { apiKeyValid } = status;
  const credits = status.apiKeyValid ? status.data.credits : null;
  const hasTooFew = credits !== null && credits < minCredits;
  const exit = !apiKeyValid ? EXIT.invalid : hasTooFew ? EXIT.tooFewCredits : EXIT.ok;
  if (flags.json) {
    printJson(process, { ok: exit === EXIT.ok, apiKeyValid, credits });
  } else {
    const balance = `valid and has ${credits} ${credits === 1 ? "credit" : "credits"}`;
    const shortfall = hasTooFew ? `, fewer than ${minCredits}` : "";
    process.stdout.write(`The key is ${apiKeyValid ? balance + shortfall : "not valid"}\n`);
  }
  return exit;
}

/** Prints an object that always has the same fields; unknown values are `null`. */
function printJson({ stdout }: CommandProcess, fields: object): void {
  const report = { ok: false, apiKeyValid: null, credits: null, error: null, ...fields };
  stdout.write(`${escapeUnseen(JSON.stringify(report))}\n`);
}

/** Runs `sandbox` until the process gets a signal to stop. */
async function runSandbox(process: CommandProcess, args: string[]): Promise<number> {
  const { host, ...flags } = parseFlags(args, FLAGS.sandbox);
  const port = parseNumber("port", flags.port);
  const keys = flags.key?.map((pair) => {
    const [, key, credits] = /^(.+)=(\d+)$/.exec(pair) ?? [];
    if (!key) throw new CommandError('"--key" must be KEY=CREDITS, CREDITS a whole number from 0');
    return [key, Number(credits)] as const;
  });
  const sandbox = createSandbox({ keys: keys && Object.fromEntries(keys) });
  /** Handles a request, and prints a line without the key. */
  const fetch = async (request: Request) => {
    const response = await sandbox.fetch(request);
    process.stdout.write(`${request.method} ${new URL(request.url).pathname} ${response.status}\n`);
    return response;
  };
  const server = await serveSandbox({ fetch }, { host, port });
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  // A URL for all interfaces would name a single one.
  const url = host === "0.0.0.0" ? server.url.replace("127.0.0.1", host) : server.url;
  process.stdout.write(`Sandbox listening on ${url} (press Ctrl-C to stop)\n`);
  const credits = sandbox.keys.get(DEMO_KEY);
  if (!keys) process.stdout.write(`Its valid key is "${DEMO_KEY}", with ${credits} credits\n`);
  await stopped;
  await server.close();
  return EXIT.ok;
}

/** Runs the command that the first argument names. */
async function runCommand(process: CommandProcess, args: string[]): Promise<number> {
  const [command, ...rest] = args;
  const has = (...names: string[]) => names.some((name) => args.includes(name));
  const asksForHelp = command === "help" || has("--help", "-h");
  if (asksForHelp || has("--version", "-v")) {
    process.stdout.write(asksForHelp ? HELP : `${version}\n`);
    return EXIT.ok;
  }
  if (command === "check-key") return await runCheckKey(process, rest);
  if (command === "sandbox") return await runSandbox(process, rest);
  throw new CommandError("The first argument must be check-key or sandbox");
}

/** Reports an error; returns the exit status. */
function reportError(process: CommandProcess, error: Error, isJson: boolean): number {
  const isOurs = error instanceof CommandError || error instanceof ScamAddressError;
  const code = isOurs ? error.code : "unexpected";
  const exit = code === "usage" || code === "configuration" ? EXIT.usage : EXIT.failed;
  const message = toLine(error.message);
  if (isJson) {
    const fields = error instanceof ScamAddressError && error.toJSON();
    printJson(process, { error: { name: error.name, ...fields, code, message } });
  } else {
    const advice = exit === EXIT.usage ? "; see --help" : "";
    process.stderr.write(`Error (${code}): ${message}${advice}\n`);
  }
  return exit;
}

/**
 * Runs the command.
 *
 * @param args The arguments, without the program's name.
 * @param process The process: where the key is read from and the report is written to.
 * @returns The exit status.
 */
export async function run(args: string[], process: CommandProcess): Promise<number> {
  try {
    return await runCommand(process, args);
  } catch (error) {
    return reportError(process, error as Error, args.includes("--json"));
  }
}
