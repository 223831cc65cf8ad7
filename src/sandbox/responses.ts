import type { FetchResponse } from "openapi-fetch";

/** The JSON with which an operation can succeed; `undefined` for a 2xx response without a body. */
export type Data<Operation extends object> = Extract<
  FetchResponse<Operation, object, "application/json">,
  { data: unknown }
>["data"];

/** Handles the requests of an operation of the OpenAPI document: returns its data, or any response. */
export type Handler<Operation extends object, Context> = (
  request: Request,
  context: Context,
) => Data<Operation> | Response | Promise<Data<Operation> | Response>;

/** Makes the response for an error: a sentence, as JSON. */
export function errorResponse(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
