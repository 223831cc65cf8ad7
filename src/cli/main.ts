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
 * `check-key` reads the key from the environment variable `SCAM_ADDRESS_API_KEY` or from standard
 * input, never from an argument, because arguments show in process lists. Line breaks around the
 * key are ignored. `--timeout SECONDS` limits all that `check-key` does, including the wait for
 * standard input; each attempt is also limited to 30 seconds. `check-key --sandbox` reads no
 * standard input; it checks `demo-key` when the variable has no key.
 *
 * `sandbox` serves the sandbox until SIGINT, which is Ctrl-C, or SIGTERM, and prints the method,
 * path and status of each response. `--help` lists the options.
 *
 * | exit status | meaning |
 * | --- | --- |
 * | 0 | the key is valid, or the sandbox was stopped |
 * | 1 | the key is not valid |
 * | 2 | wrong usage |
 * | 3 | no usable response, or the sandbox not served, or the output not written |
 * | 4 | the key is valid but has fewer credits than `--min-credits` |
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

/** Reports an error that nobody expects, once; the runtime's status 1 would mean "not valid". */
function fail({ code, message }: Error & { code?: string }): void {
  if (code === "EPIPE" || process.exitCode === 3) return; // the reader has enough, as `head` has
  process.exitCode = 3;
  process.stderr.write(`Error (unexpected): ${message}\n`);
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", fail);
process.on("uncaughtException", fail);

run(process.argv.slice(2), process).then((exit) => {
  process.exitCode ||= exit;
  // A read of standard input that nobody waits for any more would keep Deno running.
  setTimeout(() => process.exit(), 100).unref();
}).catch(fail);
