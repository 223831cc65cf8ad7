import { parseArgs, type ParseArgsConfig } from "node:util";
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
it needs NODE_USE_ENV_PROXY=1 in addition.

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
  2  the command was used wrongly, or the key or the address is malformed
  3  there was no usable response, or serving the sandbox or writing the output failed
  4  the key is valid but has fewer credits than --min-credits
  5  the key is not valid
`;

/** An error that the user can correct. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  constructor(message: string, readonly code = "usage", readonly exit: number = EXIT.usage) {
    super(message);
  }
}

/** How `check-key` gets the key. */
export const KEY_ADVICE =
  'a key is never taken from an argument, because arguments show in process lists: set "SCAM_ADDRESS_API_KEY" or write the key to standard input';

type Options = NonNullable<ParseArgsConfig["options"]>;

/**
 * An option that a message of `parseArgs` names. A few lower-case letters and hyphens are no key, so
 * that they can be quoted, and nothing else can.
 */
const NAMED_OPTION = /^(?:Option|Unknown option) '--([a-z-]{1,20})(?=[ '])/;

/** Parses options; replaces the errors of `parseArgs`, which quote an argument that may be a key. */
function parseOptions<Given extends Options>(args: string[], advice: string, options: Given) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const [, name = ""] = NAMED_OPTION.exec((error as Error).message) ?? [];
    const type = options[name]?.type;
    if (type) {
      throw new CommandError(`"--${name}" ${type === "string" ? "needs a" : "takes no"} value`);
    }
    const names = Object.keys(options).map((name) => `--${name}`).join(", ");
    const problem = name ? `Unknown option "--${name}"` : "Wrong arguments";
    throw new CommandError(`${problem}: the options are ${names}; see --help; ${advice}`);
  }
}

/** Parses the options of `check-key`. */
export const parseCheckKey = (args: string[]) =>
  parseOptions(args, KEY_ADVICE, {
    "base-url": { type: "string" },
    "allow-insecure-http": { type: "boolean" },
    "min-credits": { type: "string" },
    timeout: { type: "string" },
    retries: { type: "string" },
    json: { type: "boolean" },
    sandbox: { type: "boolean" },
  });

/** Parses the options of `sandbox`. */
export const parseSandbox = (args: string[]) =>
  parseOptions(args, 'a test key is given as "--key KEY=CREDITS"', {
    host: { type: "string" },
    port: { type: "string" },
    key: { type: "string", multiple: true },
  });
