import type { Middleware } from "openapi-fetch";

import { ConfigurationError } from "./errors.ts";

/** What hooks are told besides the request. */
export type Context = Omit<Parameters<NonNullable<Middleware["onRequest"]>>[0], "request" | "id">;

function expectInstance<T>(type: new (...args: never) => T, value: unknown): T {
  if (value instanceof type) return value;
  throw new ConfigurationError(`Middleware returned what is no ${type.name}`);
}

/** Sends a request through middleware, in the order and with the arguments of openapi-fetch. */
export async function through(
  middleware: readonly Middleware[],
  request: Request,
  context: Context,
  send: (request: Request) => Promise<Response>,
): Promise<Response> {
  const shared = { ...context, id: Math.random().toString(36).slice(2) };
  for (const each of middleware) {
    const result = await each.onRequest?.({ ...shared, request });
    if (result instanceof Response) return result;
    if (result) request = expectInstance(Request, result);
  }
  const reversed = [...middleware].reverse();
  let response: Response | undefined;
  try {
    response = await send(request);
  } catch (thrown) {
    let error = thrown;
    for (const each of reversed) {
      const result = await each.onError?.({ ...shared, request, error });
      if (result instanceof Response) {
        response = result;
        break;
      }
      if (result) error = expectInstance(Error, result);
    }
    if (!response) throw error;
  }
  for (const each of reversed) {
    const result: Response | void = await each.onResponse?.({ ...shared, request, response });
    if (result) response = expectInstance(Response, result);
  }
  return response;
}
