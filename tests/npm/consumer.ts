/**
 * An application in TypeScript that uses what the package exports. It is never run: the
 * compiler checks it against the installed package, as an ES module and as CommonJS.
 */

import {
  type CallOptions,
  type ClientOptions,
  type components,
  ConfigurationError,
  createClient,
  type ErrorCode,
  HttpError,
  type InvalidKey,
  InvalidResponseError,
  type Issue,
  type KeyStatus,
  type Method,
  type Middleware,
  NetworkError,
  type operations,
  type paths,
  type RequestOptions,
  type ResponseSnapshot,
  type RetryEvent,
  type ScamAddressClient,
  ScamAddressError,
  TimeoutError,
  type ValidKey,
} from "@scam-address/client";
import {
  createSandbox,
  DEMO_KEY,
  type Sandbox,
  type SandboxContext,
  type SandboxOptions,
  type SandboxRoute,
} from "@scam-address/client/sandbox";

const route: SandboxRoute = (request: Request, context: SandboxContext) =>
  Response.json({ url: request.url, keys: [...context.keys.keys()] });
const sandboxOptions: SandboxOptions = {
  keys: { [DEMO_KEY]: 3 },
  routes: { "GET report": route },
};
const sandbox: Sandbox = createSandbox(sandboxOptions);
const middleware: Middleware = { onRequest: ({ request }) => request };

const options: ClientOptions = {
  baseUrl: new URL("https://service.example/api/"),
  apiKey: () => Promise.resolve(DEMO_KEY),
  fetch: sandbox.fetch,
  onRetry: ({ attempt, delay, error }: RetryEvent) => console.log(attempt, delay, error.message),
};
export const client: ScamAddressClient<paths> = createClient(options);
export const plain: ScamAddressClient = createClient({
  baseUrl: "https://service.example/",
  fetch,
});
client.use(middleware);

export async function credits(callOptions: RequestOptions): Promise<number> {
  const status: KeyStatus = await client.checkOwnKey(callOptions);
  const valid: ValidKey | InvalidKey = status;
  // @ts-expect-error: what an invalid key has is not known
  status.data.credits;
  return valid.apiKeyValid ? valid.data.credits : -1;
}

export async function typed(): Promise<components["schemas"]["KeyStatus"] | undefined> {
  type Body = operations["checkKey"]["requestBody"]["content"]["application/json"];
  const body: Body = { apiKey: DEMO_KEY };
  const own = { timeout: 5_000, retries: 0, idempotent: true };
  // @ts-expect-error: there is no such operation
  client.GET("/checkKey");
  // @ts-expect-error: the key is a string
  client.POST("/checkKey", { body: { apiKey: 1 } });
  return (await client.POST("/checkKey", { body, ...own })).data;
}

/** A Standard Schema as short as can be. */
const schema = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    types: {} as { input: unknown; output: { id: number } },
    validate: (value: unknown) => ({ value: value as { id: number } }),
  },
};

export async function checked(): Promise<number> {
  const options = { schema } satisfies CallOptions<typeof schema>;
  const { data: { id } } = await client.call("GET", "report", options);
  return id;
}

export async function untyped(method: Method, common: CallOptions): Promise<unknown> {
  const { data } = await client.call(method, "report", { ...common, idempotent: true });
  // @ts-expect-error: nothing is known of the result
  data.length;
  return data;
}

export function describe(error: unknown): string {
  if (error instanceof HttpError) {
    const { headers, status }: ResponseSnapshot = error.response;
    return `${status.toFixed()} ${headers.get("date")} ${error.retryAfter?.toFixed()}`;
  }
  if (error instanceof InvalidResponseError) {
    return error.issues.map(({ path, rule }: Issue) => path + rule).join();
  }
  if (error instanceof TimeoutError) return error.timeout.toFixed();
  if (error instanceof NetworkError || error instanceof ConfigurationError) return error.message;
  if (!(error instanceof ScamAddressError)) return "";
  const code: ErrorCode = error.code;
  return code.toUpperCase();
}
