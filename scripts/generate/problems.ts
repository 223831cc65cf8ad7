/** What is wrong with the document, in the one form in which it is told. @module */

import { toPointer } from "../../src/json_pointer.ts";
import type { Json, JsonObject } from "./json.ts";

/**
 * A verdict on a field of a node, or on what is in one: whether it is refused (anything truthy), and
 * what to write instead.
 */
export type Verdict = [field: string | readonly string[], isRefused: unknown, advice: string];

/** Checks a node of an OpenAPI type, at a JSON Pointer. */
export type Check = (node: JsonObject, document: JsonObject, pointer: string) => Verdict[];

/** A place in the document that is refused. */
export interface Problem {
  /** The place, as a JSON Pointer. */
  readonly pointer: string;
  /** The field, with its value if that is short, and what to write instead. */
  readonly message: string;
}

/** Returns the JSON Pointer of a place that Redocly names. */
export function pointerOf({ pointer = "" }: { pointer?: string | undefined }): string {
  return pointer.replace(/^#(\/$)?/, "");
}

/** Says what is wrong at a place. */
export function problemAt(pointer: string, advice: string, value?: Json): Problem {
  const [end] = /[^/]*(\/\d+)?$/.exec(pointer)!; // such as "anyOf/0" for an element of a list
  const name = end.replaceAll("~1", "/").replaceAll("~0", "~") || (pointer ? '""' : "document");
  const text = JSON.stringify(value) ?? "";
  const field = /^[^{]{1,60}$/.test(text) ? `${name}: ${text}` : name;
  return { pointer, message: `\`${field}\`: ${advice}` };
}

/** Says what is wrong with a node at a place. */
export function problemsOf(
  node: JsonObject,
  pointer: string,
  verdicts: readonly Verdict[],
): Problem[] {
  return verdicts.filter(([, isRefused]) => isRefused).map(([field, , advice]) => {
    const value = typeof field === "string" ? node[field] : undefined;
    return problemAt(pointer + toPointer([field].flat()), advice, value);
  });
}
