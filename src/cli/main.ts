/**
 * The command `scam-address`, which checks an API key or serves the sandbox. Importing this module
 * runs it.
 *
 * ```sh
 * export SCAM_ADDRESS_BASE_URL=https://service.example/api/
 * npx @scam-address/client check-key < key.txt  # Node.js
 * deno run --allow-env --allow-net jsr:@scam-address/client/cli check-key < key.txt  # Deno
 * npx @scam-address/client sandbox --port 8080 --key test-key=100
 * ```
 *
 * `check-key` reads the key from the environment variable `SCAM_ADDRESS_API_KEY` or, if that is
 * empty or not set, from standard input. It takes no key as an argument, because arguments show in
 * process lists. Line breaks around the key are ignored. `check-key --sandbox` does not read
 * standard input: it checks `demo-key` when the variable has no key.
 *
 * `--timeout SECONDS` limits all that `check-key` does, even the wait for standard input. Without
 * it, that wait has no limit. With or without it, each attempt to ask the service ends after 30
 * seconds. After a temporary failure, the attempt is repeated, by default twice. The wait before
 * that is at most 8 seconds, or as long as a `Retry-After` header asks for, up to 60 seconds.
 *
 * `sandbox` serves the sandbox until SIGINT, which is Ctrl-C, or SIGTERM, and prints the method,
 * path and status of each response. `--help` lists the options.
 *
 * The exit status is never 1, because shells and npx exit with 1 when they cannot start the
 * command.
 *
 * | exit status | meaning |
 * | --- | --- |
 * | 0 | the key is valid, or the sandbox was stopped |
 * | 2 | the command was used wrongly |
 * | 3 | there was no usable response, or serving the sandbox or writing the output failed |
 * | 4 | the key is valid but has fewer credits than `--min-credits` |
 * | 5 | the key is not valid |
 *
 * `check-key --json` always prints one object, for example
 * `{"ok":true,"apiKeyValid":true,"credits":100,"error":null}`. After a failure, `apiKeyValid` and
 * `credits` are `null`, and `error` has the fields of the error, such as
 * `{"code":"http","message":"…","status":429,"retryAfter":30,"body":"",…}`.
 *
 * @module
 */
import process from "node:process";
import { setTimeout } from "node:timers";
import { run } from "./command.ts";

/** Reports an unexpected error, once, with a status of the command's own: runtimes exit with 1. */
function fail({ code, message }: Error & { code?: string }): void {
  if (code === "EPIPE" || process.exitCode === 3) return; // the reader has enough, as `head` has
  process.exitCode = 3;
  process.stderr.write(`Error (unexpected): ${message}\n`);
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", fail);
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail); // Bun calls no other listener for it

run(process.argv.slice(2), process).then((exit) => {
  process.exitCode ||= exit;
  // A read of standard input that nobody waits for any more would keep Deno running.
  setTimeout(() => process.exit(), 100).unref();
}).catch(fail);
