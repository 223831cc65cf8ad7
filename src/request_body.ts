import { classOf, convertOption, describeType, optionError } from "./checks.ts";
import { toPointer } from "./json_pointer.ts";

/** The classes that JSON loses: it writes their objects as `{}`, or as internals. */
const LOST =
  /^((Shared)?ArrayBuffer|(Async)?Generator|.* Iterator|Blob|Error|File|Map|Promise|RegExp|Request|Response|Set|.*Stream)$/;

/** The classes that JSON loses in spite of a `toJSON`, which Bun gives them. */
const LOST_BY_TO_JSON = ["FormData", "Headers", "URLSearchParams"];

/**
 * Names a value that JSON loses. Functions, symbols and `undefined` are left out, as JSON does.
 *
 * A `toJSON` says what is written in place of an object. So it is asked for before the class is looked
 * up in `LOST`, but not of bytes, forms and invalid dates, whose own are of no use.
 */
function lostKind(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${value}`;
  if (typeof value === "bigint") return hasToJson(value) ? undefined : "a bigint";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  if (Object.getPrototypeOf(value) === Object.prototype) return undefined; // as most objects have
  const name = classOf(value);
  if (ArrayBuffer.isView(value) || LOST_BY_TO_JSON.includes(name)) return describeType(value);
  if (name === "Date" && Number.isNaN(Number(value))) return "an invalid Date";
  if (hasToJson(value)) return undefined; // which says what is written in its place
  if (LOST.test(name)) return describeType(value);
  const { pipe, on } = value as Record<string, unknown>; // What has only one of them may be data.
  return typeof pipe === "function" && typeof on === "function" ? "a stream" : undefined;
}

/** Tells whether a value has a method that says what JSON has in its place. */
function hasToJson(value: unknown): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === "function";
}

/** A value that JSON loses. */
type Lost = { kind: string; place: string };

/** Finds the first value that JSON loses: its kind, and its place, such as `/list/0`. */
function findLost(value: unknown, parents = new Set()): Lost | undefined {
  const kind = parents.has(value) ? "a cycle" : lostKind(value);
  if (kind) return { kind, place: "" };
  if (typeof value !== "object" || value === null || hasToJson(value)) return undefined;
  const fields: unknown[] = Array.isArray(value) ? value : Object.values(value);
  parents.add(value);
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index];
    if (typeof field === "string" || Number.isFinite(field)) continue; // as almost all are
    const lost = findLost(field, parents);
    if (!lost) continue;
    const name = Array.isArray(value) ? index : Object.keys(value)[index]!;
    return { ...lost, place: toPointer([name]) + lost.place };
  }
  parents.delete(value);
  return undefined;
}

/** Writes a body as JSON; refuses what JSON would lose, at any depth. */
function writeJson(body: unknown, advice: string): string {
  const expected = `a value that JSON can represent${advice}`;
  const lost = convertOption("body", expected, () => findLost(body) ?? null); // undefined is refused
  if (!lost) return convertOption("body", expected, () => JSON.stringify(body));
  const place = lost.place && ` as "${lost.place.slice(0, 200)}"`;
  throw optionError("body", `must be ${expected}, not ${lost.kind}${place}`);
}

/** Writes a body as JSON, and nothing else. */
export function toJsonBody(body: unknown, headers?: Headers): string {
  const advice = "use a typed method, such as POST()";
  if (!/^[^;]*json/i.test(headers?.get("content-type") ?? "json")) {
    throw optionError("headers", `must have JSON as "Content-Type" (or ${advice})`);
  }
  return writeJson(body, ` (or ${advice})`);
}

/** Writes a body as openapi-fetch does, but refuses what JSON would lose. */
export function toBody(body: unknown, headers: Headers): FormData | string {
  if (body instanceof FormData) return body;
  if (headers.get("content-type") === "application/x-www-form-urlencoded") {
    return convertOption("body", "a value that a form can represent", () => {
      const text = `${new URLSearchParams(body as Record<string, string>)}`;
      const isLost = text === "" && !(body instanceof URLSearchParams) && lostKind(body);
      return body === null || isLost ? undefined : text; // of a `Blob`, nothing would be written
    });
  }
  return writeJson(body, ' (or set "bodySerializer" and the header "Content-Type")');
}
