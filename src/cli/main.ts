/**
 * The command `scam-address`, which checks an API key or serves the sandbox. Importing this module
 * runs it.
 *
 * ```sh
 * export SCAM_ADDRESS_BASE_URL=https://service.example/api/
 * npx @scam-address/client check-key < key.txt  # Node.js
 * deno run --allow-net --allow-env=SCAM_ADDRESS_API_KEY,SCAM_ADDRESS_BASE_URL \
 *   jsr:@scam-address/client/cli check-key < key.txt  # Deno
 * npx @scam-address/client sandbox --port 8080 --key test-key=100
 * ```
 *
 * In Deno, the command needs no permissions other than these: `--allow-env` for the two variables,
 * and `--allow-net`, which can name the service's host.
 *
 * The key comes from the environment variable `SCAM_ADDRESS_API_KEY` or, if that is not set, from
 * the first line of standard input. In a terminal, the command prompts for the key, and what you type
 * is visible. `--help` lists the options and the exit statuses. Messages are one line
 * without control characters.
 *
 * `check-key --json` always prints one object, for example
 * `{"ok":true,"apiKeyValid":true,"credits":100,"error":null}`. After a failure, `apiKeyValid` and
 * `credits` are `null`, and `error` has a `name`, a `code` and a `message`. The errors of the client
 * also have their own fields, such as
 * `{"name":"HttpError","code":"http","message":"…","isTemporary":true,"response":{…}}`.
 *
 * In addition to the codes of the client, there is `usage`, if the arguments, the variables or standard
 * input are wrong, and `unexpected`, for anything else, such as a missing permission of Deno.
 *
 * @module
 */
import process from "node:process";
import { setTimeout } from "node:timers"; // in older versions of Deno, the global one has no unref
import { toLine } from "../http/text.ts";
import { run } from "./command.ts";
import { EXIT } from "./help.ts";

/** Reports the first unexpected error, and sets the exit status: the runtime itself would exit with 1. */
function fail({ code, message }: Error & { code?: string }): void {
  // A reader closes the pipe, as `head` does.
  if (code === "EPIPE" || process.exitCode === EXIT.failed) return;
  process.exitCode = EXIT.failed;
  process.stderr.write(`Error (unexpected): ${toLine(message)}\n`);
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", fail);
process.on("uncaughtException", fail);
// Bun 1.4 calls no other listener for a rejection: https://github.com/oven-sh/bun/pull/13045
process.on("unhandledRejection", fail);

run(process.argv.slice(2), process).then(async (exit) => {
  process.exitCode ||= exit;
  // Standard output comes first, because its failure is written to standard error.
  await new Promise<void>((resolve) => process.stdout.end(resolve));
  await new Promise<void>((resolve) => process.stderr.end(resolve));
  // A read of standard input, or a connection, that is still pending would keep the process running.
  setTimeout(() => process.exit(), 100).unref();
}).catch(fail);
