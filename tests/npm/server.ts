/** Like `consumer.ts`, of what only programs of Node.js, Deno and Bun use. */

import { createSandbox } from "@scam-address/client/sandbox";
import {
  type Sandbox as Served,
  type SandboxServer,
  serveSandbox,
  type ServeSandboxOptions,
} from "@scam-address/client/sandbox/server";

const options: ServeSandboxOptions = {
  host: "127.0.0.1",
  port: 0,
};
export async function start(): Promise<string> {
  const sandbox: Served = createSandbox();
  const server: SandboxServer = await serveSandbox(sandbox, options);
  await server.close();
  return server.url;
}
