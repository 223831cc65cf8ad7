import { Buffer } from "node:buffer";
import { parseArgs } from "node:util";
import { createClient, type KeyStatus } from "../client.ts";
import { ConfigurationError, ScamAddressError } from "../errors.ts";
import type { ClientOptions } from "../options.ts";
import { createSandbox, DEMO_KEY } from "../sandbox/service.ts";
import { serveSandbox } from "../sandbox/server.ts";
import { version } from "./version.ts";

/** The parts of a process that the command uses; `node:process` has them all. */
export interface CommandProcess {
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input, which is read only for the key. */
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
  /** Standard output. */
  readonly stdout: { write(text: string): unknown };
  /** Standard error. */
  readonly stderr: { write(text: string): unknown };
  /** Adds a listener for a signal that asks the process to end. */
  once(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
}

/** What `check-key --json` prints, always with all fields. */
interface Report {
  /** Whether the exit status is 0. */
  ok: boolean;
  /** `null` when the service did not say. */
  apiKeyValid: boolean | null;
  /** `null` when the key is not known to be valid. */
  credits: number | null;
  /** What went wrong. */
  error: { code: string; message: string } | null;
}

const EXIT = { ok: 0, invalid: 1, usage: 2, failed: 3, tooFewCredits: 4 } as const;

const HELP = `Usage: scam-address check-key [options]
       scam-address sandbox [options]

check-key asks the Scam Address Service whether an API key is valid and how many credits
it has. The key is read from the environment variable SCAM_ADDRESS_API_KEY or from
standard input, never from an argument, because arguments show in process lists.

  --base-url URL     the service's address; SCAM_ADDRESS_BASE_URL by default
  --min-credits N    exit with 4 when the key has fewer credits than N
  --json             print one JSON object: ok, apiKeyValid, credits, error
  --sandbox          ask the built-in sandbox instead of the service; without a key,
                     check "${DEMO_KEY}"

sandbox serves the sandbox, a service in memory, over HTTP until Ctrl-C. It prints its
address, and the method, path and status of each response.

  --host HOST        where to listen; 127.0.0.1 by default
  --port N           the port to listen on; any free port by default
  --key KEY=CREDITS  a valid test key, may be given again; "${DEMO_KEY}=100" by default

  --help             print this text
  --version          print the version

Exit status: 0 the key is valid, or the sandbox was stopped; 1 the key is not valid;
2 wrong usage; 3 no usable response from the service, or the sandbox could not be served;
4 the key is valid but has fewer credits than --min-credits.
`;

const NO_KEY_ARGUMENT =
  'a key is never taken from an argument, because arguments show in process lists: set "SCAM_ADDRESS_API_KEY" or write the key to standard input';

/** More than fits in any header. */
const MAX_KEY_BYTES = 64 * 1024;

/** An error that the user can correct. */
class CommandError extends Error {
  constructor(message: string, readonly code = "usage", readonly exit: number = EXIT.usage) {
    super(message);
  }
}

const OPTIONS = {
  "base-url": { type: "string" },
  "min-credits": { type: "string" },
  json: { type: "boolean" },
  sandbox: { type: "boolean" },
  host: { type: "string" },
  port: { type: "string" },
  key: { type: "string", multiple: true },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

/** The options of each command. */
const COMMANDS = new Map([
  ["check-key", ["base-url", "min-credits", "json", "sandbox"]],
  ["sandbox", ["host", "port", "key"]],
]);

/** Parses the arguments. No message quotes one, because it may be a key. */
function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === "ERR_PARSE_ARGS_INVALID_OPTION_VALUE") {
      throw new CommandError(message.split("\n", 1)[0]!.replace(/\.$/, "").replaceAll("'", '"'));
    }
    throw new CommandError(`Unknown option: see --help; ${NO_KEY_ARGUMENT}`);
  }
}

/** Reads the command and its options. */
function readArguments(args: string[]) {
  const { positionals: [command, ...rest], values } = parse(args);
  if (values.help || values.version) return { command, values };
  if (command === undefined) {
    throw new CommandError('No command: use "check-key" or "sandbox"; see --help');
  }
  const allowed = COMMANDS.get(command);
  if (!allowed) {
    throw new CommandError(
      `Unknown command: use "check-key" or "sandbox"; ${NO_KEY_ARGUMENT}`,
    );
  }
  if (rest.length) throw new CommandError(`Too many arguments; ${NO_KEY_ARGUMENT}`);
  const other = Object.keys(values).find((name) => !allowed.includes(name));
  if (other !== undefined) {
    const why = other === "key" ? NO_KEY_ARGUMENT : "see --help";
    throw new CommandError(`"--${other}" is not an option of "${command}"; ${why}`);
  }
  return { command, values };
}

type Values = ReturnType<typeof readArguments>["values"];

/** Reads a whole number, or `undefined` when the option is not given. */
function readNumber(values: Values, name: "min-credits" | "port", max: number) {
  const text = values[name];
  if (text === undefined) return undefined;
  if (/^\d{1,16}$/.test(text) && Number(text) <= max) return Number(text);
  throw new CommandError(`"--${name}" must be a whole number from 0 to ${max}`);
}

/** Reads an environment variable. Deno's own error quotes a value that is not Unicode. */
function readVariable({ env }: CommandProcess, name: string): string | undefined {
  try {
    return env[name];
  } catch (error) {
    if ((error as Error).name === "NotCapable") throw error; // names the missing permission
    throw new CommandError(`"${name}" is not valid Unicode`);
  }
}

/** Reads the key from the environment or from standard input; `""` when there is none. */
async function readKey(process: CommandProcess): Promise<string> {
  const key = readVariable(process, "SCAM_ADDRESS_API_KEY");
  if (key) return key;
  if (process.stdin.isTTY) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > MAX_KEY_BYTES) throw new CommandError("Standard input has more than an API key");
    chunks.push(chunk);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, "");
  } catch {
    throw new CommandError("Standard input is not UTF-8 text");
  }
}

/** Asks the service, or the sandbox, about the key. */
async function askForStatus(process: CommandProcess, values: Values): Promise<KeyStatus> {
  if (values.sandbox && values["base-url"] !== undefined) {
    throw new CommandError('"--sandbox" and "--base-url" cannot be used together');
  }
  if (values.sandbox) process.stderr.write("Asking the built-in sandbox, not the service\n");
  let apiKey = await readKey(process);
  const target: ClientOptions = { baseUrl: "" };
  if (values.sandbox) {
    target.baseUrl = "http://localhost/";
    target.fetch = createSandbox().fetch;
    apiKey ||= DEMO_KEY;
  } else {
    target.baseUrl = values["base-url"] ?? readVariable(process, "SCAM_ADDRESS_BASE_URL") ?? "";
    if (!target.baseUrl) {
      throw new CommandError(
        'No address: use "--base-url", set "SCAM_ADDRESS_BASE_URL", or try "--sandbox"',
      );
    }
    if (!apiKey) {
      throw new CommandError(
        'No key: set "SCAM_ADDRESS_API_KEY" or write the key to standard input',
      );
    }
  }
  return await createClient(target).checkKey(apiKey);
}

/** Runs `check-key`. */
async function checkKey(process: CommandProcess, values: Values): Promise<number> {
  const minCredits = readNumber(values, "min-credits", Number.MAX_SAFE_INTEGER);
  const status = await askForStatus(process, values);
  const { apiKeyValid } = status;
  const credits = status.apiKeyValid ? status.data.credits : null;
  const tooFew = credits !== null && minCredits !== undefined && credits < minCredits;
  const exit = !apiKeyValid ? EXIT.invalid : tooFew ? EXIT.tooFewCredits : EXIT.ok;
  if (values.json) {
    printReport(process, { ok: exit === EXIT.ok, apiKeyValid, credits, error: null });
  } else if (apiKeyValid) {
    const found = `The key is valid and has ${credits} ${credits === 1 ? "credit" : "credits"}`;
    process.stdout.write(tooFew ? `${found}, fewer than ${minCredits}\n` : `${found}\n`);
  } else {
    process.stdout.write("The key is not valid\n");
  }
  return exit;
}

function printReport({ stdout }: CommandProcess, report: Report): void {
  stdout.write(`${JSON.stringify(report)}\n`);
}

/** Runs `sandbox` until a signal asks the process to end. */
async function sandbox(process: CommandProcess, values: Values): Promise<number> {
  const { host = "127.0.0.1", key: pairs = [`${DEMO_KEY}=100`] } = values;
  const port = readNumber(values, "port", 65_535) ?? 0;
  if (!host) throw new CommandError('"--host" must not be empty');
  const keys = pairs.map((pair) => {
    const [, key, credits] = /^(.+)=(\d+)$/.exec(pair) ?? [];
    if (key === undefined) throw new CommandError('"--key" must be KEY=CREDITS');
    return [key, Number(credits)] as const;
  });
  const service = createSandbox({ keys: Object.fromEntries(keys) });
  const server = await serveSandbox(service, {
    host,
    port,
    onResponse: ({ method, path, status }) => process.stdout.write(`${method} ${path} ${status}\n`),
  }).catch(({ message }) => {
    throw new CommandError(message.replace(/^"port"/, '"--port"'), "listen", EXIT.failed);
  });
  const stopped = new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  process.stdout.write(`The sandbox listens on ${server.url} until Ctrl-C\n`);
  await stopped;
  await server.close();
  return EXIT.ok;
}

/** Changes a message that names the client's options, which the command does not have. */
function inOwnWords(message: string): string {
  return message
    .replace(/^"baseUrl"/, "The address")
    .replace(/^"apiKey"/, "The key")
    .replace(/^(Key|The credits of key) (\d+) of "keys"/, "$1 $2")
    .replace(/; set "allowInsecureHttp".*/, "");
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
    const { command, values } = readArguments(args);
    if (values.help || values.version) {
      process.stdout.write(values.help ? HELP : `${version}\n`);
      return EXIT.ok;
    }
    return await (command === "sandbox" ? sandbox : checkKey)(process, values);
  } catch (thrown) {
    const known = thrown instanceof CommandError || thrown instanceof ScamAddressError;
    const code = known ? thrown.code : "unexpected";
    const exit = thrown instanceof CommandError
      ? thrown.exit
      : thrown instanceof ConfigurationError
      ? EXIT.usage
      : EXIT.failed;
    const message = inOwnWords(thrown instanceof Error ? thrown.message : String(thrown));
    if (args.includes("--json")) {
      const error = { code, message };
      printReport(process, { ok: false, apiKeyValid: null, credits: null, error });
    } else process.stderr.write(`Error (${code}): ${message}\n`);
    return exit;
  }
}
