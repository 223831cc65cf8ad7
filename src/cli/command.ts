import { createClient } from "../client.ts";
import { ConfigurationError, HttpError, ScamAddressError } from "../errors.ts";
import { createSandbox, DEMO_KEY } from "../sandbox/service.ts";
import { serveSandbox } from "../sandbox/server.ts";
import { abortable } from "../transport/abortable.ts";
import {
  CHECK_KEY_FLAGS,
  CommandError,
  EXIT,
  HELP,
  KEY_ADVICE,
  parseFlags,
  SANDBOX_FLAGS,
  type Values,
  withFlagNames,
} from "./arguments.ts";
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

const KEY_VARIABLE = "SCAM_ADDRESS_API_KEY";

/** The limit of standard input, in characters: more than any key has. */
const MAX_INPUT_LENGTH = 64 * 1024;

/** The largest part of the body of an error that is printed, in characters. */
const MAX_BODY_LENGTH = 300;

/** The time limit of `check-key`. */
interface TimeLimit {
  /** Aborted when the time is up. */
  readonly signal: AbortSignal | undefined;
  /** Why there is no result yet, for the message when the time is up. */
  reason: string;
}

/**
 * Reads an environment variable, which must not be empty: where `while read` sets it to the lines of
 * a list, an empty line would make the command read the rest of the list as standard input.
 */
function readVariable({ env }: CommandProcess, name: string): string | undefined {
  try {
    if (env[name]?.trim() !== "") return env[name];
  } catch (error) {
    if ((error as Error).name === "NotCapable") throw error; // names the missing permission
    throw new CommandError(`"${name}" is not valid Unicode`); // Deno's own error quotes the value.
  }
  throw new CommandError(`"${name}" is set and empty: set it to a value, or unset it`);
}

/** Reads a key, without line breaks around it. */
function readKey(text: string, source: string): string {
  const [key, ...others] = text.split(/[\r\n]+/).filter(Boolean);
  if (key !== undefined && others.length === 0) return key;
  const found = key ? "more than one key" : `no key, and "${KEY_VARIABLE}" is not set`;
  throw new CommandError(`${source} has ${found}`);
}

/** Reads the key from standard input. */
async function readStandardInput({ stdin, stderr }: CommandProcess): Promise<string> {
  if (stdin.isTTY) {
    stderr.write("Type the key here and press Enter, then Ctrl-D (on Windows, Ctrl-Z and Enter)\n");
  }
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdin) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_INPUT_LENGTH) {
      throw new CommandError("Standard input has more than a key");
    }
  }
  return readKey(text + decoder.decode(), "Standard input");
}

/** Asks the service, or the sandbox, about the key. */
async function askForStatus(
  process: CommandProcess,
  values: Values<typeof CHECK_KEY_FLAGS>,
  limit: TimeLimit,
) {
  const variable = readVariable(process, KEY_VARIABLE);
  const key = variable === undefined ? undefined : readKey(variable, `"${KEY_VARIABLE}"`);
  if (values.sandbox) {
    if (values["base-url"]) throw new CommandError('"--sandbox" cannot have a "--base-url"');
    const about = key ? "" : ` about "${DEMO_KEY}"`;
    process.stderr.write(`Asking the built-in sandbox${about}, not the service\n`);
    const { fetch } = createSandbox();
    return await createClient({ baseUrl: "http://localhost/", fetch }).checkKey(key ?? DEMO_KEY);
  }
  const baseUrl = values["base-url"] ?? readVariable(process, "SCAM_ADDRESS_BASE_URL");
  const advice = 'use "--base-url", set "SCAM_ADDRESS_BASE_URL", or try "--sandbox"';
  if (!baseUrl) throw new CommandError(`No address: ${advice}`);
  const client = createClient({
    baseUrl,
    allowInsecureHttp: values["allow-insecure-http"],
    retries: values.retries,
    onRetry({ error }) {
      limit.reason = describeError(error);
    },
  });
  const apiKey = key ?? await abortable([limit.signal], () => readStandardInput(process));
  limit.reason = "there was no complete response";
  return await client.checkKey(apiKey, { signal: limit.signal });
}

/** Runs `check-key`. */
async function runCheckKey(process: CommandProcess, args: string[]): Promise<number> {
  const values = parseFlags(args, CHECK_KEY_FLAGS, KEY_ADVICE);
  const { "min-credits": minCredits, timeout: seconds } = values;
  const limit: TimeLimit = {
    signal: seconds === undefined ? undefined : AbortSignal.timeout(seconds * 1_000),
    reason: "standard input has not ended",
  };
  const status = await askForStatus(process, values, limit).catch((thrown) => {
    if (!limit.signal?.aborted) throw thrown;
    const problem = `No result within ${seconds} s: ${limit.reason}`;
    throw new CommandError(problem, "timeout", EXIT.failed);
  });
  const { apiKeyValid } = status;
  const credits = status.apiKeyValid ? status.data.credits : null;
  const tooFew = credits !== null && minCredits !== undefined && credits < minCredits;
  const exit = !apiKeyValid ? EXIT.invalid : tooFew ? EXIT.tooFewCredits : EXIT.ok;
  if (values.json) {
    printJson(process, { ok: exit === EXIT.ok, apiKeyValid, credits });
  } else {
    const unit = credits === 1 ? "credit" : "credits";
    const shortfall = tooFew ? `, fewer than ${minCredits}` : "";
    const verdict = apiKeyValid ? `valid and has ${credits} ${unit}${shortfall}` : "not valid";
    process.stdout.write(`The key is ${verdict}\n`);
  }
  return exit;
}

/** Returns the message of an error, with the names of flags. */
function messageOf(error: Error): string {
  return error instanceof CommandError ? error.message : withFlagNames(error.message);
}

/** Writes a body as one line, cut, and with control characters escaped. */
function toLine(body: unknown): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const line = text.replace(/\s+/g, " ").trim();
  const part = line.length > MAX_BODY_LENGTH ? `${line.slice(0, MAX_BODY_LENGTH)}…` : line;
  return part.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** Describes an error in one line: the message and, after a 4xx or 5xx status, the response's body. */
function describeError(error: Error): string {
  const body = error instanceof HttpError ? toLine(error.response.body) : "";
  return messageOf(error) + (body && `; the response says ${body}`);
}

/** Prints an object that always has the same fields; what is not known is `null`. */
function printJson({ stdout }: CommandProcess, fields: object): void {
  const report = { ok: false, apiKeyValid: null, credits: null, error: null, ...fields };
  stdout.write(`${JSON.stringify(report)}\n`);
}

/** Runs `sandbox` until a signal asks the process to end. */
async function runSandbox(process: CommandProcess, args: string[]): Promise<number> {
  const advice = 'a test key is given as "--key KEY=CREDITS"';
  const { host, port, key: pairs } = parseFlags(args, SANDBOX_FLAGS, advice);
  const keys = pairs?.map((pair) => {
    const [, key, credits] = /^(.+)=(\d+)$/.exec(pair) ?? [];
    if (!key) throw new CommandError('"--key" must be KEY=CREDITS, CREDITS a whole number from 0');
    return [key, Number(credits)] as const;
  });
  const sandbox = createSandbox({ keys: keys && Object.fromEntries(keys) });
  /** Handles a request, and prints a line that shows no key. */
  const fetch = async (request: Request) => {
    const response = await sandbox.fetch(request);
    process.stdout.write(`${request.method} ${new URL(request.url).pathname} ${response.status}\n`);
    return response;
  };
  const server = await serveSandbox({ fetch }, { host, port });
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  process.stdout.write(`The sandbox listens on ${server.url} until Ctrl-C\n`);
  if (!pairs) {
    for (const [key, credits] of sandbox.keys) {
      process.stdout.write(`Its valid key is "${key}", with ${credits} credits\n`);
    }
  }
  await stopped;
  await server.close();
  return EXIT.ok;
}

/**
 * Runs the command.
 *
 * @param args The arguments, without the program's name.
 * @param process The process: where the key is read from and the report is written to.
 * @returns The exit status.
 */
export async function run(args: string[], process: CommandProcess): Promise<number> {
  const [command, ...rest] = args;
  const has = (...names: string[]) => names.some((name) => args.includes(name));
  try {
    const asksForHelp = command === "help" || has("--help", "-h");
    if (asksForHelp || has("--version", "-v")) {
      process.stdout.write(asksForHelp ? HELP : `${version}\n`);
      return EXIT.ok;
    }
    if (command === "check-key") return await runCheckKey(process, rest);
    if (command === "sandbox") return await runSandbox(process, rest);
    if (command === undefined) {
      process.stderr.write(HELP);
      return EXIT.usage;
    }
    const advice = 'the first argument must be "check-key", "sandbox" or "help"';
    throw new CommandError(`No command: ${advice}; ${KEY_ADVICE}`);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const known = error instanceof CommandError || error instanceof ScamAddressError;
    const code = known ? error.code : "unexpected";
    if (args.includes("--json")) {
      const message = messageOf(error);
      const fields = error instanceof ScamAddressError && error.toJSON();
      printJson(process, { error: { name: error.name, ...fields, code, message } });
    } else {
      process.stderr.write(`Error (${code}): ${describeError(error)}\n`);
    }
    if (error instanceof CommandError) return error.exit;
    return error instanceof ConfigurationError ? EXIT.usage : EXIT.failed;
  }
}
