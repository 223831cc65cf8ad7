/** Makes the response for an error: a sentence, as JSON. */
export function errorResponse(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
