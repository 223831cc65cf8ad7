import { networkInterfaces } from "node:os";
import { createClient } from "../client.ts";
import { ScamAddressError, TimeoutError } from "../errors.ts";
import { serveSandbox } from "../sandbox/server.ts";
import { createSandbox, DEMO_KEY } from "../sandbox/service.ts";
import { escapeUnseen, toLine } from "../text.ts";
import {
  CHECK_KEY_FLAGS,
  CommandError,
  EXIT,
  HELP,
  KEY_ADVICE,
  parseFlags,
  parseNumber,
  SANDBOX_FLAGS,
  type Values,
  withFlagNames,
} from "./arguments.ts";
import { version } from "./version.ts";

/** The parts of `node:process` that the command uses. */
interface CommandProcess {
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input, which is only read for the key. */
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  /** Standard output. */
  readonly stdout: { write(text: string): unknown };
  /** Standard error. */
  readonly stderr: { write(text: string): unknown };
  /** Adds a listener for a signal to stop. */
  once(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  /** Ends the process at once. */
  exit(status: number): unknown;
  /** The id of the process. */
  readonly pid: number;
}

const KEY_VARIABLE = "SCAM_ADDRESS_API_KEY";

/** Reads an environment variable. */
function readVariable({ env }: CommandProcess, name: string): string | undefined {
  try {
    return env[name];
  } catch (error) {
    if ((error as Error).name === "NotCapable") throw error; // It names the missing permission.
    throw new CommandError(`"${name}" is not valid Unicode`); // Deno's own error quotes the value.
  }
}

/** Takes the key out of a text that may have white space around it. */
function readKey(text: string, source: string): string {
  const key = text.trim();
  if (!key) throw new CommandError(`No key: ${source} is empty; ${KEY_ADVICE}`);
  if (/[\r\n]/.test(key)) throw new CommandError(`The key in ${source} contains a line break`);
  return key;
}

/** Reads the key from standard input. */
async function readStandardInput({ stdin, stderr }: CommandProcess): Promise<string> {
  if (stdin.isTTY) stderr.write("Type the key, Enter and Ctrl-D (on Windows, Ctrl-Z and Enter)\n");
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdin) {
    text += decoder.decode(chunk, { stream: true });
    // An endless input would fill the memory; no key is that long.
    if (text.length > 65_536) throw new CommandError("Standard input is too long to be a key");
  }
  return readKey(text + decoder.decode(), "standard input");
}

/** Checks the key with the service, or with the sandbox. */
async function checkKey(process: CommandProcess, flags: Values<typeof CHECK_KEY_FLAGS>) {
  const variable = readVariable(process, KEY_VARIABLE);
  let key = variable === undefined ? undefined : readKey(variable, `"${KEY_VARIABLE}"`);
  const seconds = parseNumber("timeout", flags.timeout, 1, 2_147_483);
  const options = {
    allowInsecureHttp: flags["allow-insecure-http"],
    retries: parseNumber("retries", flags.retries, 0, 100),
    totalTimeout: seconds && seconds * 1_000,
  };
  if (flags.sandbox) {
    if (flags["base-url"]) {
      throw new CommandError('"--sandbox" and "--base-url" cannot be combined');
    }
    const name = key ? `the key in "${KEY_VARIABLE}"` : `"${DEMO_KEY}"`;
    process.stderr.write(`Checking ${name} with the built-in sandbox, not the service\n`);
    const sandbox = { baseUrl: "http://localhost/", fetch: createSandbox().fetch };
    return await createClient({ ...options, ...sandbox, apiKey: key ?? DEMO_KEY }).checkOwnKey();
  }
  const baseUrl = flags["base-url"] ?? readVariable(process, "SCAM_ADDRESS_BASE_URL");
  const advice = 'use "--base-url", set "SCAM_ADDRESS_BASE_URL", or try "--sandbox"';
  if (!baseUrl) throw new CommandError(`No address: ${advice}`);
  // A function, so that the address is checked first, and reading the key counts toward `totalTimeout`.
  const apiKey = key ?? (async () => key = await readStandardInput(process));
  return await createClient({ ...options, baseUrl, apiKey }).checkOwnKey().catch((error) => {
    if (key || !(error instanceof TimeoutError)) throw error;
    const problem = `No key arrived: standard input did not end within ${seconds} s`;
    throw new CommandError(`${problem}; ${KEY_ADVICE}`);
  });
}

/** Returns the exit status for a key. `credits` is `null` if the service does not say how many. */
function exitStatusOf(apiKeyValid: boolean, credits: number | null, minCredits?: number): number {
  if (!apiKeyValid) return EXIT.invalid;
  if (minCredits === undefined) return EXIT.ok;
  if (credits === null) return EXIT.failed;
  return credits < minCredits ? EXIT.tooFewCredits : EXIT.ok;
}

/** Runs `check-key`. */
async function runCheckKey(process: CommandProcess, args: string[]): Promise<number> {
  const flags = parseFlags(args, CHECK_KEY_FLAGS, KEY_ADVICE);
  const minCredits = parseNumber("min-credits", flags["min-credits"], 0, Number.MAX_SAFE_INTEGER);
  // The first process of a container is not ended by a signal that it does not listen for.
  if (process.pid === 1) {
    process.once("SIGINT", () => process.exit(130)); // the status that shells show for it
    process.once("SIGTERM", () => process.exit(143));
  }
  const status = await checkKey(process, flags);
  const { apiKeyValid } = status;
  const credits = status.apiKeyValid ? status.data.credits ?? null : null;
  const exit = exitStatusOf(apiKeyValid, credits, minCredits);
  if (flags.json) {
    printJson(process, { ok: exit === EXIT.ok, apiKeyValid, credits });
  } else {
    const unit = credits === 1 ? "credit" : "credits";
    const shortfall = exit === EXIT.tooFewCredits ? `, fewer than ${minCredits}` : "";
    const balance = `${credits ?? "an unknown number of"} ${unit}${shortfall}`;
    process.stdout.write(`The key is ${apiKeyValid ? `valid and has ${balance}` : "not valid"}\n`);
  }
  return exit;
}

/** Prints an object that always has the same fields; unknown values are `null`. */
function printJson({ stdout }: CommandProcess, fields: object): void {
  const report = { ok: false, apiKeyValid: null, credits: null, error: null, ...fields };
  stdout.write(`${escapeUnseen(JSON.stringify(report))}\n`);
}

/** Lists the IPv4 addresses of this machine that others may reach. */
function listAddresses(): string[] {
  try {
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    return all.filter((one) => one.family === "IPv4" && !one.internal).map((one) => one.address);
  } catch {
    return []; // Deno needs the permission "--allow-sys" for it.
  }
}

/** Runs `sandbox` until the process gets a signal to stop. */
async function runSandbox(process: CommandProcess, args: string[]): Promise<number> {
  const advice = 'to add a test key, use "--key KEY=CREDITS"';
  const flags = parseFlags(args, SANDBOX_FLAGS, advice);
  const port = parseNumber("port", flags.port, 0, 65_535);
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
  const server = await serveSandbox({ fetch }, { host: flags.host, port });
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  process.stdout.write(`Sandbox listening on ${server.url} (press Ctrl-C to stop)\n`);
  if (flags.host === "0.0.0.0" || flags.host === "::") {
    const { port } = new URL(server.url);
    const urls = listAddresses().map((address) => `http://${address}:${port}/`);
    if (urls.length > 0) process.stdout.write(`Other machines can use ${urls.join(" or ")}\n`);
  }
  if (!keys) process.stdout.write(`Its valid key is "${DEMO_KEY}", with 100 credits\n`);
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
  const problem = command === undefined ? "No command" : "There is no such command";
  const advice = `the commands are check-key and sandbox; see --help; ${KEY_ADVICE}`;
  throw new CommandError(`${problem}: ${advice}`);
}

/** Reports an error; returns the exit status. */
function reportError(process: CommandProcess, error: Error, isJson: boolean): number {
  const isOurs = error instanceof CommandError || error instanceof ScamAddressError;
  const code = isOurs ? error.code : "unexpected";
  const message = toLine(withFlagNames(error.message));
  if (isJson) {
    const fields = error instanceof ScamAddressError && error.toJSON();
    printJson(process, { error: { name: error.name, ...fields, code, message } });
  } else {
    process.stderr.write(`Error (${code}): ${message}\n`);
  }
  return code === "usage" || code === "configuration" ? EXIT.usage : EXIT.failed;
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
