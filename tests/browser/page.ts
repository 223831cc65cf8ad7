// What page.test.ts runs in a browser, bundled.
import { createClient, type HttpError } from "../../mod.ts";

/** Put in by the bundler. */
declare const SANDBOX: string;

const client = createClient({ baseUrl: SANDBOX, apiKey: "demo-key", retries: 0 });
const response = ({ status, headers, retryAfter }: HttpError) => ({
  status,
  retryAfter,
  exposed: headers.get("x-sandbox"),
});

async function callSandbox(): Promise<unknown[]> {
  return [
    await client.checkOwnKey(),
    await client.checkKey("other-key"),
    await client.call("PUT", "reports/7", { body: { a: 1 } }),
    await client.call("GET", "busy").catch(response),
  ];
}

const results = await callSandbox().catch((error) => [`${error}`]);
await fetch("results", { method: "POST", body: JSON.stringify([location.origin, ...results]) });
