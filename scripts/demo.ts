/**
 * Serves the sandbox on loopback and asks it about its demo key over HTTP with the package's own
 * command; exits with 0 only when the command did. Nothing leaves this machine.
 */
import { createSandbox, DEMO_KEY } from "../src/sandbox.ts";

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  createSandbox().fetch,
);
const host = `127.0.0.1:${server.addr.port}`;
console.log(`The sandbox listens on http://${host}/

"scam-address check-key" asks it about "${DEMO_KEY}":
`);

const { code } = await new Deno.Command(Deno.execPath(), {
  args: [
    "run",
    "--quiet",
    "--no-prompt",
    "--import-map=import_map.npm.json",
    "--allow-env=SCAM_ADDRESS_API_KEY,SCAM_ADDRESS_BASE_URL",
    `--allow-net=${host}`,
    "src/cli.ts",
    "check-key",
    "--base-url",
    `http://${host}/`,
  ],
  cwd: new URL("..", import.meta.url),
  env: { SCAM_ADDRESS_API_KEY: DEMO_KEY },
  stdin: "null",
  stdout: "inherit",
  stderr: "inherit",
}).spawn().status;
await server.shutdown();

if (code !== 0) {
  console.error(`The demo failed: the command exited with ${code}`);
  Deno.exit(1);
}
console.log(`
To ask the real service, give its address and a file that holds your key:

    npx -y deno@${Deno.version.deno} run --allow-env --allow-net src/cli.ts check-key --base-url https://…/ < key.txt`);
