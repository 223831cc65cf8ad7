import { parseArgs } from "node:util";
import { closest } from "../checks.ts";
import { DEMO_KEY } from "../sandbox/service.ts";

/** The exit statuses; main.ts and HELP say what they mean. */
export const EXIT = { ok: 0, invalid: 1, usage: 2, failed: 3, tooFewCredits: 4 } as const;

export const HELP = `Usage: scam-address check-key [options]
       scam-address sandbox [options]

check-key asks the Scam Address Service whether an API key is valid and how many credits
it has. The key is read from the environment variable SCAM_ADDRESS_API_KEY or from
standard input, never from an argument, because arguments show in process lists.

  --base-url URL     the service's address; SCAM_ADDRESS_BASE_URL by default
  --min-credits N    exit with 4 when the key has fewer credits than N
  --timeout SECONDS  exit with 3 when there is no result in time, a whole number of
                     seconds, which also limits the wait for standard input
  --json             print one JSON object: ok, apiKeyValid, credits, error
  --sandbox          ask the built-in sandbox instead of the service; checks
                     "${DEMO_KEY}" unless SCAM_ADDRESS_API_KEY is set

sandbox serves the sandbox, a service in memory, over HTTP until Ctrl-C. It prints its
address, and the method, path and status of each response.

  --host HOST        where to listen; 127.0.0.1 by default
  --port N           the port to listen on; any free port by default
  --key KEY=CREDITS  a valid test key, may be given again; "${DEMO_KEY}=100" by default

  -h, --help         print this text
  -v, --version      print the version

Exit status:
  0  the key is valid, or the sandbox was stopped
  1  the key is not valid
  2  wrong usage
  3  no usable response, or the sandbox not served, or the output not written
  4  the key is valid but has fewer credits than --min-credits
`;

const OPTIONS = {
  "base-url": { type: "string" },
  "min-credits": { type: "string" },
  timeout: { type: "string" },
  json: { type: "boolean" },
  sandbox: { type: "boolean" },
  host: { type: "string" },
  port: { type: "string" },
  key: { type: "string", multiple: true },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** The values of the options that are given. */
export type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

/** The options of each command. */
const COMMANDS = new Map([
  ["check-key", ["base-url", "min-credits", "timeout", "json", "sandbox"]],
  ["sandbox", ["host", "port", "key"]],
]);

const NO_KEY_ARGUMENT =
  'a key is never taken from an argument, because arguments show in process lists: set "SCAM_ADDRESS_API_KEY" or write the key to standard input';
const TEST_KEY_ARGUMENT = 'a test key is given as "--key KEY=CREDITS"';

/** An error that the user can correct. */
export class CommandError extends Error {
  constructor(message: string, readonly code = "usage", readonly exit: number = EXIT.usage) {
    super(message);
  }
}

/** Makes an error that names what is similar; it quotes no argument, which may be a key. */
function notKnown(what: string, text: string, names: string[], advice: string): CommandError {
  const plain = text.replace(/^\W+|=.*/gs, "");
  const similar = closest(plain, names.map((name) => name.replace("--", "")));
  const meant = names.find((name) => name.replace("--", "") === similar);
  return new CommandError(
    meant ? `${what}: did you mean "${meant}"?` : `${what}: see --help; ${advice}`,
  );
}

/** Reads the command and its options. */
export function readArguments(args: string[]) {
  const parsed = parseArgs({ args, options: OPTIONS, strict: false, tokens: true });
  const [command, ...rest] = parsed.positionals;
  const values = parsed.values as Values;
  const allowed = COMMANDS.get(command!);
  const names = [...allowed ?? Object.keys(OPTIONS), "help", "version"].map((name) => `--${name}`);
  const advice = command === "sandbox" ? TEST_KEY_ARGUMENT : NO_KEY_ARGUMENT;
  const known = new Map<string, { type: string }>(Object.entries(OPTIONS));
  for (const token of parsed.tokens) {
    if (token.kind !== "option") continue;
    const { name, value, inlineValue, index } = token;
    const type = known.get(name)?.type;
    if (!type) throw notKnown("Unknown option", args[index]!, names, advice);
    if (type === "boolean" && value !== undefined) {
      throw new CommandError(`"--${name}" takes no value`);
    }
    if (type === "string" && (value === undefined || !inlineValue && value.startsWith("--"))) {
      throw new CommandError(`"--${name}" needs a value`);
    }
  }
  if (command === "help") values.help = true;
  if (values.help || values.version) return { command, values };
  if (command === undefined) {
    throw new CommandError('No command: use "check-key" or "sandbox"; see --help');
  }
  if (!allowed) {
    throw notKnown("Unknown command", command, [...COMMANDS.keys(), "help", "--version"], advice);
  }
  if (rest.length) throw notKnown("Too many arguments", rest[0]!, names, advice);
  const other = Object.keys(values).find((name) => !allowed.includes(name));
  if (other === "key") throw notKnown('"--key" is not an option of "check-key"', "", [], advice);
  if (other) throw new CommandError(`"--${other}" is not an option of "${command}": see --help`);
  return { command, values };
}

/** Reads the value of an option that must be a whole number. */
export function readNumber(name: string, text: string | undefined, min: number, max: number) {
  if (text === undefined) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new CommandError(`"--${name}" must be a whole number from ${min} to ${max}`);
}
