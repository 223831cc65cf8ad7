/**
 * Serves the sandbox on a loopback address, and checks its demo key over HTTP with the package's own
 * command, which must succeed.
 */
import { DEMO_KEY } from "../src/sandbox/service.ts";
import { serveSandbox } from "../src/sandbox/server.ts";
import { root } from "./support/files.ts";
import { deno, mustRun } from "./support/process.ts";

await using server = await serveSandbox();
const args = ["check-key", "--base-url", server.url];
console.log(`Sandbox listening on ${server.url}\n\nscam-address ${args.join(" ")}`);

const permissions = [
  "--allow-env=SCAM_ADDRESS_API_KEY,SCAM_ADDRESS_BASE_URL",
  `--allow-net=${new URL(server.url).host}`,
];
const flags = ["run", "--quiet", "--no-prompt", ...permissions];
const env = { SCAM_ADDRESS_API_KEY: DEMO_KEY };
console.log(await mustRun(deno, [...flags, "src/cli/main.ts", ...args], { cwd: root, env }));
