import { parseArgs, type ParseArgsConfig } from "node:util";
import { DEMO_KEY } from "../sandbox/service.ts";

/** The exit statuses; HELP says what they mean. Shells and npx use 1 for themselves. */
export const EXIT = { ok: 0, usage: 2, failed: 3, tooFewCredits: 4, invalid: 5 } as const;

export const HELP = `Usage: scam-address check-key [options]
       scam-address sandbox [options]

check-key asks the Scam Address Service whether an API key is valid and how many credits
it has. It reads the key from the environment variable SCAM_ADDRESS_API_KEY or, if that
is not set, from standard input: if both have a key, the variable wins. A key is never an
argument, because arguments show in process lists.

  --base-url URL     the service's address; SCAM_ADDRESS_BASE_URL by default
  --allow-insecure-http  allow http; anyone on the network path can read the key
  --min-credits N    exit with 4 if the key has fewer than N credits
  --timeout SECONDS  time limit for the whole check, including reading the key; by default,
                     there is none, other than 30 seconds for each attempt
  --retries N        maximum number of retries after temporary failures; 2 by default
  --json             print one JSON object: ok, apiKeyValid, credits, error
  --sandbox          ask the built-in sandbox instead of the service; checks
                     "${DEMO_KEY}" unless SCAM_ADDRESS_API_KEY is set

Set HTTPS_PROXY to use a proxy. Node.js 22.21, 24 and newer also need NODE_USE_ENV_PROXY=1;
Node.js 20 ignores both.

sandbox serves the sandbox, an in-memory stand-in for the service, over HTTP until Ctrl-C.
It prints its address, its valid key unless --key gives others, and the method, path and
status of each response.

  --host HOST        where to listen; 127.0.0.1 by default; 0.0.0.0 is all interfaces
  --port N           the port to listen on; a free port by default
  --key KEY=CREDITS  a valid test key; can be given several times; "${DEMO_KEY}=100" by
                     default

  -h, --help         print this text
  -v, --version      print the version

Exit status:
  0  the key is valid, or the sandbox was stopped
  2  invalid usage, a missing or malformed key or address, or a port that is in use
  3  there is no usable response, or something else failed
  4  the key is valid but has fewer credits than --min-credits
  5  the key is not valid
`;

/** Invalid usage of the command. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code = "usage";
}

/** How to pass a key to `check-key`. */
export const KEY_ADVICE =
  'a key is never taken from an argument, because arguments show in process lists: set "SCAM_ADDRESS_API_KEY" or write the key to standard input';

type Flags = NonNullable<ParseArgsConfig["options"]>;

/** The flags of `check-key`. */
export const CHECK_KEY_FLAGS = {
  "base-url": { type: "string" },
  "allow-insecure-http": { type: "boolean" },
  "min-credits": { type: "string" },
  timeout: { type: "string" },
  retries: { type: "string" },
  json: { type: "boolean" },
  sandbox: { type: "boolean" },
} as const satisfies Flags;

/** The flags of `sandbox`. */
export const SANDBOX_FLAGS = {
  host: { type: "string" },
  port: { type: "string" },
  key: { type: "string", multiple: true },
} as const satisfies Flags;

/** The values of flags. */
export type Values<Of extends Flags> = ReturnType<typeof parseArgs<{ options: Of }>>["values"];

/** Describes what `parseArgs` rejected. It quotes only what looks like a flag: the rest may be a key. */
function describeRefusal({ code, message }: Error & { code?: string }, flags: Flags): string {
  const [, name = ""] = /'--([a-z-]{1,20})[ ']/.exec(message) ?? [];
  if (name && code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") return `Unknown option "--${name}"`;
  if (code !== "ERR_PARSE_ARGS_INVALID_OPTION_VALUE") return "Wrong arguments";
  return `"--${name}" ${flags[name]?.type === "string" ? "needs a" : "takes no"} value`;
}

/** Parses arguments. Its errors quote nothing that may be a key. */
export function parseFlags<Of extends Flags>(
  args: string[],
  flags: Of,
  advice: string,
): Values<Of> {
  try {
    return parseArgs({ args, options: flags }).values;
  } catch (error) {
    const names = Object.keys(flags).map((name) => `--${name}`).join(", ");
    const problem = describeRefusal(error as Error, flags);
    throw new CommandError(`${problem}: the options are ${names}; see --help; ${advice}`);
  }
}

/** Parses the value of a flag that takes a whole number. */
export function parseNumber(name: string, text: string | undefined, min: number, max: number) {
  if (text === undefined) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new CommandError(`"--${name}" must be a whole number from ${min} to ${max}`);
}

/** The command's names for options of the library. */
const FLAG_NAMES = new Map([
  ["allowInsecureHttp", '"--allow-insecure-http"'],
  ["apiKey", "The key"],
  ["baseUrl", '"--base-url"'],
  ["host", '"--host"'],
  ["keys", '"--key"'],
  ["port", '"--port"'],
]);

/**
 * Replaces names of the library's options in a message by the command's: at its start and in advice
 * only, because the rest may come from the service.
 */
export function withFlagNames(message: string): string {
  const rename = (_found: string, before: string, name: string) =>
    before + (FLAG_NAMES.get(name) ?? `"${name}"`);
  return message.replace(/(^|check |set )"(\w+)"/g, rename);
}
