import type { Bytes } from "./body.ts";

/**
 * The largest part of a body that errors keep, and so the largest text that is searched for secrets: in
 * bytes, or in characters, of which a text never has more than bytes.
 */
export const MAX_ERROR_BODY = 64 * 2 ** 10;

/** Decodes a body as UTF-8, without a byte-order mark. */
export function decode(bytes: Bytes): string {
  return new TextDecoder().decode(bytes);
}

/**
 * Parses the part of a body that an error keeps: as JSON or, like openapi-fetch, as text if it is not
 * JSON.
 */
export function parseBody(text: string): unknown {
  const start = text.slice(0, MAX_ERROR_BODY);
  try {
    return JSON.parse(start);
  } catch {
    return start;
  }
}

/** Returns a copy of the start of a text, because a part of a text keeps all of it in memory. */
export function startOf(text: string, length: number): string {
  return decode(new TextEncoder().encode(text.slice(0, length)));
}
