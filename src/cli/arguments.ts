import { parseArgs, type ParseArgsConfig } from "node:util";

/** Invalid usage of the command. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code = "usage";
}

type Flags = NonNullable<ParseArgsConfig["options"]>;

/** The flags of each command. */
export const FLAGS = {
  "check-key": {
    "base-url": { type: "string" },
    "allow-insecure-http": { type: "boolean" },
    "min-credits": { type: "string" },
    timeout: { type: "string" },
    retries: { type: "string" },
    json: { type: "boolean" },
    sandbox: { type: "boolean" },
  },
  sandbox: {
    host: { type: "string" },
    port: { type: "string" },
    key: { type: "string", multiple: true },
  },
} as const satisfies Record<string, Flags>;

/** The values of flags. */
export type Values<Of extends Flags> = ReturnType<typeof parseArgs<{ options: Of }>>["values"];

/** Parses arguments. */
export function parseFlags<Of extends Flags>(args: string[], options: Of): Values<Of> {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    // Other messages quote an argument, which may be a key.
    const isOfFlag = /UNKNOWN_OPTION|INVALID_OPTION_VALUE/.test(`${code}`);
    throw new CommandError(isOfFlag ? message : "Unexpected argument");
  }
}

/** Parses the value of a flag that takes a whole number. */
export function parseNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new CommandError(`"--${name}" must be a whole number`);
}
