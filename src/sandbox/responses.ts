import type { FetchResponse } from "openapi-fetch";

/** The JSON with which an operation can succeed; `undefined` for a 2xx response without a body. */
export type Data<Operation extends object> = Extract<
  FetchResponse<Operation, object, "application/json">,
  { data: unknown }
>["data"];

/** The result of a handler: the data of its operation, or any response. */
type HandlerResult<Operation extends object> =
  | Data<Operation>
  | (undefined extends Data<Operation> ? void : never) // what a function without a result returns
  | Response;

/** Handles the requests of an operation of the OpenAPI document. */
export type Handler<Operation extends object, Context> = (
  request: Request,
  context: Context,
) => HandlerResult<Operation> | Promise<HandlerResult<Operation>>;

/** Makes the response for an error: a sentence, as JSON. */
export function errorResponse(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
