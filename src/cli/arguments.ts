import { parseArgs } from "node:util";
import { type Range, RANGES } from "../checks.ts";
import { DEMO_KEY } from "../sandbox/service.ts";

/** The exit statuses; HELP says what they mean. Shells and npx use 1 for themselves. */
export const EXIT = { ok: 0, usage: 2, failed: 3, tooFewCredits: 4, invalid: 5 } as const;

export const HELP = `Usage: scam-address check-key [options]
       scam-address sandbox [options]

check-key asks the Scam Address Service whether an API key is valid and how many credits
it has. It reads the key from the environment variable SCAM_ADDRESS_API_KEY or, if that
is not set, from standard input; never from an argument, because arguments show in
process lists.

  --base-url URL     the service's address; SCAM_ADDRESS_BASE_URL by default
  --allow-insecure-http  allow http; anyone between you and the service can read the key
  --min-credits N    fail below N credits
  --timeout SECONDS  limit the whole check, even reading the key; by default only each
                     attempt is limited, to 30 seconds
  --retries N        retries after a temporary failure; 2 by default
  --json             print one JSON object: ok, apiKeyValid, credits, error
  --sandbox          ask the built-in sandbox instead of the service; checks
                     "${DEMO_KEY}" unless SCAM_ADDRESS_API_KEY is set

HTTPS_PROXY sets a proxy. It has no effect on Node.js 20. On Node.js 22.21, 24 and newer,
it also needs NODE_USE_ENV_PROXY=1.

sandbox serves the sandbox, an in-memory stand-in for the service, over HTTP until Ctrl-C.
It prints its address, its valid key unless --key gives others, and the method, path and
status of each response.

  --host HOST        where to listen; 127.0.0.1 by default
  --port N           the port to listen on; any free port by default
  --key KEY=CREDITS  a valid test key; can be given several times; "${DEMO_KEY}=100" by
                     default

  -h, --help         print this text
  -v, --version      print the version

Exit status, which is never 1:
  0  the key is valid, or the sandbox was stopped
  2  wrong usage, a malformed key or address, or a port in use
  3  there was no usable response, or writing the output failed
  4  the key is valid but has fewer credits than --min-credits
  5  the key is not valid
`;

/** An error of the command itself, with its code and its exit status. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(message: string, readonly code = "usage", readonly exit: number = EXIT.usage) {
    super(message);
  }
}

/** Advice on how to give `check-key` the key. */
export const KEY_ADVICE =
  'a key is never taken from an argument, because arguments show in process lists: set "SCAM_ADDRESS_API_KEY" or write the key to standard input';

/** A flag, as `parseArgs` takes it, with what else its value must be. */
interface Flag {
  readonly type: "boolean" | "string";
  readonly multiple?: true;
  /** The option of the library that it sets, which messages name. */
  readonly option?: string;
  /** The range of a whole number, and what it counts. */
  readonly range?: Range & { readonly unit?: string };
}

type Flags = Readonly<Record<string, Flag>>;

const SECONDS = { min: 1, max: Math.floor(RANGES.timeout.max / 1_000), unit: "seconds" };

/** The flags of `check-key`. */
export const CHECK_KEY_FLAGS = {
  "base-url": { type: "string", option: "baseUrl" },
  "allow-insecure-http": { type: "boolean", option: "allowInsecureHttp" },
  "min-credits": { type: "string", range: { min: 0, max: Number.MAX_SAFE_INTEGER } },
  timeout: { type: "string", range: SECONDS },
  retries: { type: "string", range: RANGES.retries },
  json: { type: "boolean" },
  sandbox: { type: "boolean" },
} as const satisfies Flags;

/** The flags of `sandbox`. */
export const SANDBOX_FLAGS = {
  host: { type: "string", option: "host" },
  port: { type: "string", option: "port", range: RANGES.port },
  key: { type: "string", option: "keys", multiple: true },
} as const satisfies Flags;

/** The values of flags. */
export type Values<Of extends Flags> = {
  [Name in keyof Of]?: Of[Name] extends { type: "boolean" } ? boolean
    : Of[Name] extends { multiple: true } ? string[]
    : Of[Name] extends { range: Range } ? number
    : string;
};

/** Parses the value of a flag that takes a number. */
function parseNumber(name: string, text: string, { min, max, unit }: Required<Flag>["range"]) {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  const kind = unit ? `number of ${unit}` : "number";
  throw new CommandError(`"${name}" must be a whole ${kind} from ${min} to ${max}`);
}

/** Parses arguments; an error quotes none that may be a key. */
export function parseFlags<Of extends Flags>(args: string[], flags: Of, advice: string) {
  const known = new Map<string, Flag>(Object.entries(flags));
  const names = [...known.keys()].map((name) => `--${name}`).join(", ");
  const refusal = (problem: string) =>
    new CommandError(`${problem}: the options are ${names}; see --help; ${advice}`);
  // Not strict, because its errors quote arguments.
  const { tokens, ...parsed } = parseArgs({ args, options: flags, strict: false, tokens: true });
  const values: Record<string, unknown> = parsed.values;
  for (const token of tokens) {
    if (token.kind !== "option") throw refusal("Wrong arguments");
    const { name, rawName, value, inlineValue } = token;
    const flag = known.get(name);
    if (!flag) {
      const isWord = /^--[a-z-]{1,20}$/.test(rawName); // and so no key
      throw refusal(isWord ? `Unknown option "${rawName}"` : "Wrong arguments");
    }
    if (flag.type === "boolean" && value !== undefined) {
      throw new CommandError(`"${rawName}" takes no value`);
    }
    if (flag.type === "string" && (value === undefined || (!inlineValue && /^-/.test(value)))) {
      throw new CommandError(`"${rawName}" needs a value`);
    }
    if (flag.range) values[name] = parseNumber(rawName, value!, flag.range);
  }
  return values as Values<Of>;
}

/** Writes the names of the library's options in a message as the command's own. */
export function withFlagNames(message: string): string {
  let text = message.replace('"apiKey"', "The key");
  const flags: Flags = { ...CHECK_KEY_FLAGS, ...SANDBOX_FLAGS };
  for (const [name, { option }] of Object.entries(flags)) {
    if (option) text = text.replaceAll(`"${option}"`, `"--${name}"`);
  }
  return text;
}
