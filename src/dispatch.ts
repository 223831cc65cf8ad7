// Calls the service through openapi-fetch, which makes the request and runs the middleware.
import createFetchClient, { type Client, type Middleware, type ParseAs } from "openapi-fetch";

import type { CallOptions, ClientOptions, RequestOptions } from "./api.ts";
import { type Expected, readData } from "./data.ts";
import { apiKeyHeader } from "./generated/operations.ts";
import { type Call, runCall } from "./http/call.ts";
import { httpError, optionError } from "./http/failures.ts";
import { BufferedResponse, RequestParts } from "./http/parts.ts";
import { isIdempotent } from "./http/retry.ts";
import { send } from "./http/send.ts";
import { withoutQuery } from "./http/text.ts";
import { type Given, resolveApiKey, type Settings } from "./options.ts";
import { checkedPathSerializer, serializeBody } from "./serialize.ts";

/** The result of openapi-fetch's methods. */
type Result<R = Response> = { data?: unknown; error?: unknown; response: R };

/** openapi-fetch's client without the types of paths, which `api.ts` has for users. */
interface UntypedClient extends Pick<Client<object>, "use" | "eject"> {
  request(method: string, path: string, init: object): Promise<Result<Response | BufferedResponse>>;
}

/** The options of a call that are read here; openapi-fetch reads the others. */
interface AnyOptions extends Given<RequestOptions & Pick<CallOptions, "body" | "idempotent">> {
  params?: { path?: Record<string, unknown>; query?: object };
  parseAs?: ParseAs;
  middleware?: unknown[];
  pathSerializer?: NonNullable<ClientOptions["pathSerializer"]>;
  fetch?: NonNullable<ClientOptions["fetch"]>;
}

/** What a method says of a call. */
interface Details extends Expected {
  /** Whether the call resolves to the body of an error status, and does not reject. */
  readonly resolvesToErrors?: boolean;
  /** Makes the body, within the limits of the call. */
  readonly makeBody?: () => Promise<unknown>;
}

/** Creates the function that all methods call, with openapi-fetch's client. */
export function createDispatch(settings: Settings) {
  const { baseUrl, headers, querySerializer, bodySerializer = serializeBody } = settings;
  const init: object = { baseUrl, headers, querySerializer, bodySerializer };
  // openapi-fetch's types accept neither options that are `undefined`, nor any string as a path.
  const openapi = createFetchClient(init) as unknown as UntypedClient;
  let usesMiddleware = false;

  async function dispatch(
    method: string,
    path: string,
    options: AnyOptions,
    details: Details,
  ): Promise<Result> {
    if (options.body !== undefined && ["GET", "HEAD"].includes(method)) {
      throw optionError("body", `must be left out of a ${method} request`);
    }
    const { params, parseAs = "json", pathSerializer = settings.pathSerializer } = options;
    const call = createCall(method, path, settings, options, details);
    return await runCall(call, async (signal) => {
      const body = details.makeBody ? await details.makeBody() : options.body;
      // The body of `checkKey` has a key, whichever method sends it.
      for (const key of [settings.apiKey, Object(body).apiKey]) {
        if (typeof key === "string") call.record.secrets.push(key);
      }
      // Only middleware and other forms of the data need a `Request` and a `Response`.
      const isPlain = parseAs === "json" && !usesMiddleware && !options.middleware;
      const result = await openapi.request(method, path, {
        ...options,
        body,
        params: { ...params, path: params?.path ?? {} },
        pathSerializer: checkedPathSerializer(pathSerializer),
        Request: isPlain ? RequestParts : Request,
        duplex: "half", // Node.js requires it for a body that is a stream.
        signal,
        parseAs: parseAs === "json" ? "text" : parseAs, // JSON is parsed in `readData`, to be checked
        async fetch(request: Request | RequestParts) {
          const response = await send(request, call, signal);
          return isPlain ? response : response.toResponse();
        },
      });
      const { data, error, response: received } = result;
      const response = received instanceof BufferedResponse ? received.original : received;
      if (!received.ok && details.resolvesToErrors) return { error, response };
      if (!received.ok) {
        const body = received instanceof BufferedResponse ? received.text() : error;
        throw httpError(call.record, response, body);
      }
      if (parseAs !== "json") return { data, response };
      // There is no text for a response without content.
      return { data: await readData(`${data ?? ""}`, response, details, call.record), response };
    });
  }
  const use = (...middleware: Middleware[]) => {
    usesMiddleware = true; // also if one of them is refused: those before it stay
    openapi.use(...middleware);
  };
  return { dispatch, use, eject: openapi.eject };
}

/** Says how the requests of a call are sent. */
function createCall(
  method: string,
  path: string,
  settings: Settings,
  options: AnyOptions,
  { operation }: Details,
): Call {
  const { access = "required" } = operation ?? {};
  const { parseAs = "json", ...given } = options;
  const { baseUrl } = settings;
  const secrets: string[] = [];
  const setHeaders = async (headers: Headers) => {
    headers.delete(apiKeyHeader); // The caller's own is ignored.
    if (parseAs === "json" && !headers.has("accept")) headers.set("accept", "application/json");
    if (access === "none") return;
    // Authenticated requests have a type, even without a body.
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    if (access === "optional" && settings.apiKey === undefined) return;
    const key = await resolveApiKey(settings);
    secrets.push(key);
    headers.set(apiKeyHeader, key);
  };
  const isRepeatable = (sent: string) => {
    const documented = sent === method ? operation?.idempotent : undefined;
    return options.idempotent ?? documented ?? isIdempotent(sent);
  };
  const all = { ...settings, ...given };
  const deadline = performance.now() + all.totalTimeout;
  const request = `${method} ${baseUrl}${withoutQuery(path.slice(1))}`;
  const endpointExists = operation !== undefined && !path.includes("{");
  const record = { request, attempt: 0, secrets, endpointExists };
  return { ...all, baseUrl, deadline, isRepeatable, record, setHeaders };
}
