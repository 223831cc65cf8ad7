import { classOf, convertOption, describeKind, optionError } from "./checks.ts";

/**
 * Names a value that JSON loses: a `Map` or a `Blob` is written as `{}`, bytes as numbers, `NaN` as
 * `null`, a stream as its internals. What has a `toJSON` of its own says what is written. Functions,
 * symbols and `undefined` are left out, as JSON does.
 */
function lostKind(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${value}`;
  if (typeof value === "bigint") return hasToJson(value) ? undefined : "a bigint";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  if (Object.getPrototypeOf(value) === Object.prototype) return undefined; // as most objects have
  const name = classOf(value);
  // A `toJSON` of these loses them: a `Buffer` of Node.js, and the others on Bun
  // (https://github.com/oven-sh/bun/issues/18805).
  const hasWrongJson = ArrayBuffer.isView(value) ||
    ["FormData", "Headers", "URLSearchParams"].includes(name);
  if (hasWrongJson) return describeKind(value);
  if (name === "Date" && Number.isNaN(Number(value))) return "an invalid Date";
  if (hasToJson(value)) return undefined;
  if (isStream(value)) return "a stream";
  const isEmpty = !["Boolean", "Number", "Object", "String"].includes(name) &&
    Object.keys(value).length === 0;
  return isEmpty || name === "Error" ? describeKind(value) : undefined;
}

/** Whether a value says what is written in its place. */
function hasToJson(value: unknown): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === "function";
}

/** Whether an object is a stream of Node.js or an Observable: what has only a `pipe` may be data. */
function isStream(value: object): boolean {
  const { pipe, on, subscribe } = value as Record<string, unknown>;
  return typeof pipe === "function" && typeof (on ?? subscribe) === "function";
}

/** A value that JSON loses: what it is, and its place, such as `/list/0`. */
type Lost = { kind: string; place: string };

/** Finds the first value that JSON loses. The parents are the objects that contain the value. */
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
    const name = Array.isArray(value) ? index : Object.keys(value)[index];
    return { ...lost, place: `/${name}${lost.place}` };
  }
  parents.delete(value);
  return undefined;
}

/** Writes a body as JSON; refuses what JSON would lose, at any depth. */
function writeJson(body: unknown, advice: string): string {
  let found = "";
  try {
    const lost = findLost(body);
    if (lost) found = `, not ${lost.kind}${lost.place && ` as "${lost.place.slice(0, 200)}"`}`;
    const written = lost ? undefined : JSON.stringify(body);
    if (written !== undefined) return written;
  } catch { /* A `toJSON` or a getter throws; the message may quote a secret. */ }
  throw optionError("body", `must be a value that JSON can represent${advice}${found}`);
}

/** Writes a body as JSON, and nothing else. */
export function toJson(body: unknown, headers?: Headers): string {
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
    const write = () => {
      const text = `${new URLSearchParams(body as Record<string, string>)}`;
      const mayBeEmpty = body instanceof URLSearchParams || body !== null && !lostKind(body);
      return (text || mayBeEmpty) ? text : undefined; // A form loses a `Blob`, for example.
    };
    return convertOption("body", "a value that a form can represent", write);
  }
  return writeJson(body, ' (or set "bodySerializer" and the header "Content-Type")');
}
