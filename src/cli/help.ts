import { DEMO_KEY } from "../sandbox/service.ts";

/** The exit statuses; HELP says what they mean. Shells and npx use 1 for themselves. */
export const EXIT = { ok: 0, usage: 2, failed: 3, tooFewCredits: 4, invalid: 5 } as const;

/** The time limit of `check-key`, in seconds. */
export const DEFAULT_TIMEOUT = 30;

export const HELP = `Usage: scam-address check-key [options]
       scam-address sandbox [options]

check-key asks the Scam Address Service whether an API key is valid and how many credits
it has. It reads the key from the environment variable SCAM_ADDRESS_API_KEY or, if that
is not set, from the first line of standard input. A key is never an argument, because
arguments show in process lists.

  --base-url URL     the service's URL; SCAM_ADDRESS_BASE_URL by default
  --allow-insecure-http  allow http; anyone on the network path can read the key
  --min-credits N    exit with 4 if the key has fewer than N credits
  --timeout SECONDS  time limit for the whole check, including reading the key;
                     ${DEFAULT_TIMEOUT} by default
  --retries N        maximum number of retries after temporary failures; 2 by default
  --json             print one JSON object: ok, apiKeyValid, credits, error
  --sandbox          ask the built-in sandbox instead of the service; checks
                     "${DEMO_KEY}" unless SCAM_ADDRESS_API_KEY is set

sandbox serves the sandbox, an in-memory stand-in for the service, over HTTP until Ctrl-C.
It prints its address, and the method, path and status of each response.

  --host HOST        where to listen; 127.0.0.1 by default; 0.0.0.0 is all interfaces
  --port N           the port to listen on; a free port by default
  --key KEY=CREDITS  a valid test key; can be given several times; "${DEMO_KEY}" by default

  -h, --help         print this text
  -v, --version      print the version

Exit status:
  0  the key is valid, or the sandbox was stopped
  2  invalid usage, a missing or malformed key or address, or a port that is in use
  3  there is no usable response, or something else failed
  4  the key is valid but has fewer credits than --min-credits
  5  the key is not valid
`;
