/** Like `consumer.ts`, of what only programs of Node.js, Deno and Bun use. */

import { createSandbox } from "@scam-address/client/sandbox";
import {
  type Sandbox as Served,
  type SandboxResponse,
  type SandboxServer,
  serveSandbox,
  type ServeSandboxOptions,
} from "@scam-address/client/sandbox/server";

const options: ServeSandboxOptions = {
  host: "127.0.0.1",
  port: 0,
  onResponse: ({ method, path, status }: SandboxResponse) => [method, path, status.toFixed()],
};
export async function start(): Promise<string> {
  const sandbox: Served = createSandbox();
  const server: SandboxServer = await serveSandbox(sandbox, options);
  await server.close();
  return server.url;
}
