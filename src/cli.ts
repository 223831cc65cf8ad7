/**
 * The command `scam-address`, which checks an API key and serves the sandbox: importing this module
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
 * input, never from an argument, because arguments show in process lists. `sandbox` serves the
 * sandbox until Ctrl-C and prints a line for each response, which shows no key. `--help` lists the
 * options.
 *
 * | exit status | meaning |
 * | --- | --- |
 * | 0 | the key is valid, or the sandbox was stopped (by SIGINT, which is Ctrl-C, or SIGTERM) |
 * | 1 | the key is not valid |
 * | 2 | wrong usage |
 * | 3 | the service could not be asked, the sandbox not served, or the output not written |
 * | 4 | the key is valid, but has fewer credits than `--min-credits` |
 *
 * `check-key --json` prints one object in every case, for example
 * `{"ok":true,"apiKeyValid":true,"credits":100,"error":null}`, or with `null` for what is not known
 * and `{"code":"network","message":"…"}` as the `error`.
 *
 * @module
 */
import process from "node:process";
import { run } from "./command.ts";

/** Reports a failure to write once; the runtime's own status for it, 1, would mean "not valid". */
function fail({ code, message }: Error & { code?: string }): void {
  if (code === "EPIPE" || process.exitCode === 3) return; // the reader may leave, as `head` does
  process.exitCode = 3;
  process.stderr.write(`Error (unexpected): ${message}\n`);
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", fail);

run(process.argv.slice(2), process).then((exit) => {
  process.exitCode ||= exit;
}).catch(fail);
