import { parseArgs } from "node:util";
import { createClient, type KeyStatus } from "./client.ts";
import { ConfigurationError, ScamAddressError } from "./errors.ts";
import type { ClientOptions } from "./options.ts";
import { createSandbox, DEMO_KEY } from "./sandbox.ts";

/** The parts of a process that the command uses; `node:process` has them all. */
export interface CommandProcess {
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input, which is read only for the key. */
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };
  /** Standard output. */
  readonly stdout: { write(text: string): unknown };
  /** Standard error. */
  readonly stderr: { write(text: string): unknown };
}

/** What `--json` prints, always with all fields. */
interface Report {
  /** Whether the exit status is 0. */
  ok: boolean;
  /** `null` when the service did not say. */
  apiKeyValid: boolean | null;
  /** `null` when the key is not known to be valid. */
  credits: number | null;
  /** What prevented an answer. */
  error: { code: string; message: string } | null;
}

const EXIT = { valid: 0, invalid: 1, usage: 2, failed: 3, tooFewCredits: 4 } as const;

const HELP = `Usage: scam-address check-key [options]

Asks the Scam Address Service whether an API key is valid and how many credits it has.

The key is read from the environment variable SCAM_ADDRESS_API_KEY or from standard
input, never from an argument, because arguments show in process lists.

Options:
  --base-url URL    the service's address; SCAM_ADDRESS_BASE_URL by default
  --min-credits N   exit with 4 when the key has fewer credits than N
  --json            print one JSON object: ok, apiKeyValid, credits, error
  --sandbox         ask a built-in stand-in instead of the service; without a key,
                    it checks its own "${DEMO_KEY}"
  --help            print this text

Exit status: 0 the key is valid, 1 it is not valid, 2 wrong usage, 3 the service could
not be asked, 4 the key is valid but has fewer credits than --min-credits.
`;

const NO_KEY_ARGUMENT =
  'a key is never taken from an argument, because arguments show in process lists: set "SCAM_ADDRESS_API_KEY" or write the key to standard input';

/** More than any header can carry. */
const MAX_KEY_LENGTH = 64 * 1024;

class UsageError extends Error {}

/** Reads the arguments. No message quotes one, since it may be a key. */
function readArguments(args: string[]) {
  const options = {
    "base-url": { type: "string" },
    "min-credits": { type: "string" },
    help: { type: "boolean", short: "h" },
    json: { type: "boolean" },
    sandbox: { type: "boolean" },
  } as const;
  let parsed;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === "ERR_PARSE_ARGS_INVALID_OPTION_VALUE") {
      throw new UsageError(message.split("\n", 1)[0]!.replace(/\.$/, "").replaceAll("'", '"'));
    }
    throw new UsageError(`Unknown option, see --help; ${NO_KEY_ARGUMENT}`);
  }
  const { positionals, values } = parsed;
  const minCredits = values["min-credits"] ?? "0";
  if (!values.help) {
    if (positionals[0] !== "check-key") {
      throw new UsageError(
        positionals.length
          ? `Unknown command, the only one is "check-key"; ${NO_KEY_ARGUMENT}`
          : 'A command is missing, the only one is "check-key"; see --help',
      );
    }
    if (positionals.length > 1) throw new UsageError(`Too many arguments; ${NO_KEY_ARGUMENT}`);
    if (!/^\d{1,15}$/.test(minCredits)) {
      throw new UsageError('"--min-credits" must be a whole number from 0');
    }
    if (values.sandbox && values["base-url"] !== undefined) {
      throw new UsageError('"--sandbox" and "--base-url" exclude each other');
    }
  }
  return { ...values, minCredits: Number(minCredits) };
}

/** Reads the key from the environment or from standard input; `""` when there is none. */
async function readKey({ env, stdin }: CommandProcess): Promise<string> {
  const key = env["SCAM_ADDRESS_API_KEY"];
  if (key) return key;
  if (stdin.isTTY) return "";
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdin) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > MAX_KEY_LENGTH) {
      throw new UsageError("Standard input holds more than an API key");
    }
  }
  text += decoder.decode(); // shows a character that is cut off
  return text.replace(/\r?\n$/, "");
}

/** Asks the service, or the sandbox, about the key. */
async function checkKey(
  process: CommandProcess,
  options: { sandbox?: boolean | undefined; "base-url"?: string | undefined },
): Promise<KeyStatus> {
  if (options.sandbox) process.stderr.write("Asking the built-in sandbox, not the service\n");
  let apiKey = await readKey(process);
  const target: ClientOptions = { baseUrl: "" };
  if (options.sandbox) {
    target.baseUrl = "http://localhost/";
    target.fetch = createSandbox().fetch;
    apiKey ||= DEMO_KEY;
  } else {
    target.baseUrl = options["base-url"] ?? process.env["SCAM_ADDRESS_BASE_URL"] ?? "";
    if (!target.baseUrl) {
      throw new UsageError(
        'No address: use "--base-url", set "SCAM_ADDRESS_BASE_URL", or try "--sandbox"',
      );
    }
    if (!apiKey) {
      throw new UsageError('No key: set "SCAM_ADDRESS_API_KEY" or write the key to standard input');
    }
  }
  return await createClient(target).checkKey(apiKey);
}

/** Follows an error's causes to the innermost. */
function innermost(error: unknown): unknown {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  return cause === undefined ? error : innermost(cause);
}

/** Names in a message what the command has in place of the client's options. */
function inOwnWords(message: string): string {
  return message
    .replace(/^"baseUrl"/, "The address")
    .replace(/^"apiKey"/, "The key")
    .replace(/; "allowInsecureHttp".*/, "");
}

/** Gives an error's message, and that of its innermost cause, which says why a connection failed. */
function explain(error: unknown): string {
  const cause = innermost(error);
  const text = (value: unknown) => {
    const { message, code } = Object(value) as { message?: string; code?: string };
    return message || code || String(value); // Node's AggregateError has no message
  };
  return cause === error ? text(error) : `${text(error)}: ${text(cause)}`;
}

/** Writes the report for people. */
function describe({ apiKeyValid, credits }: Report, minCredits: number): string {
  if (!apiKeyValid) return "The key is not valid";
  const found = `The key is valid and has ${credits} ${credits === 1 ? "credit" : "credits"}`;
  return credits! < minCredits ? `${found}, fewer than ${minCredits}` : found;
}

/**
 * Runs the command.
 *
 * @param args The arguments, without the program's name.
 * @param process The process: where the key is read from and the report is written to.
 * @returns The exit status.
 */
export async function run(args: string[], process: CommandProcess): Promise<number> {
  const { stdout, stderr } = process;
  const report: Report = { ok: false, apiKeyValid: null, credits: null, error: null };
  let json = args.includes("--json");
  let minCredits = 0;
  let exit: number;
  try {
    const options = readArguments(args);
    if (options.help) {
      stdout.write(HELP);
      return EXIT.valid;
    }
    json = options.json ?? false;
    minCredits = options.minCredits;
    const status = await checkKey(process, options);
    report.apiKeyValid = status.apiKeyValid;
    if (status.apiKeyValid) report.credits = status.data.credits;
    exit = report.credits === null
      ? EXIT.invalid
      : report.credits < minCredits
      ? EXIT.tooFewCredits
      : EXIT.valid;
  } catch (error) {
    const usage = error instanceof UsageError || error instanceof ConfigurationError;
    exit = usage ? EXIT.usage : EXIT.failed;
    report.error = {
      code: error instanceof ScamAddressError ? error.code : usage ? "usage" : "unexpected",
      message: inOwnWords(explain(error)),
    };
  }
  report.ok = exit === EXIT.valid;
  const { error } = report;
  if (json) stdout.write(`${JSON.stringify(report)}\n`);
  else if (error) stderr.write(`Error (${error.code}): ${error.message}\n`);
  else stdout.write(`${describe(report, minCredits)}\n`);
  return exit;
}
