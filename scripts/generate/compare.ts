/** What changed between two schemas, and whom it breaks. @module */

import { isNothing, isObject, join, listOf, objectOf, type Schema } from "./schema.ts";
import type { Json } from "./spec.ts";

/** Whether callers go on working. */
export type Verdict = "breaks" | "may break" | "keeps";

/** One difference between two schemas. */
export interface Difference {
  /** Where in the value: a JSON pointer, in which `*` stands for any item or other property. */
  readonly at: string;
  readonly text: string;
  readonly verdict: Verdict;
}

/** A schema, and the ones that its references name. */
export interface Source {
  readonly schema: Schema;
  readonly definitions: Readonly<Record<string, Schema>>;
}

/**
 * Compares two schemas.
 *
 * What is sent must go on being accepted, so a request breaks callers where its schema accepts
 * less. What is answered must go on being understood, so a response does where it accepts more.
 *
 * @param before The schema as it was.
 * @param after The schema as it is.
 * @param direction Whether callers send or receive the values.
 * @returns The differences, none if the schemas accept the same values.
 */
export function compareSchemas(
  before: Source,
  after: Source,
  direction: "request" | "response",
): Difference[] {
  const comparison = new Comparison(before.definitions, after.definitions, direction);
  comparison.compare(before.schema, after.schema, "");
  return comparison.differences;
}

type Definitions = Readonly<Record<string, Schema>>;

/** Limits, by whether a greater number accepts more values or fewer. */
const limits: Readonly<Record<string, "more" | "fewer">> = {
  exclusiveMaximum: "more",
  exclusiveMinimum: "fewer",
  maxContains: "more",
  maxItems: "more",
  maxLength: "more",
  maxProperties: "more",
  maximum: "more",
  minContains: "fewer",
  minItems: "fewer",
  minLength: "fewer",
  minProperties: "fewer",
  minimum: "fewer",
};

/** Keywords of which it is only said that they changed, by what they hold. */
const others = {
  schema: ["contains", "else", "if", "not", "propertyNames", "then"],
  list: ["allOf", "anyOf", "oneOf", "prefixItems"],
  map: ["dependentSchemas", "patternProperties"],
  value: ["dependentRequired", "multipleOf", "pattern", "readOnly", "uniqueItems", "writeOnly"],
};

class Comparison {
  readonly differences: Difference[] = [];
  readonly #before: Definitions;
  readonly #after: Definitions;
  readonly #direction: "request" | "response";
  readonly #seen = new Set<string>();

  constructor(before: Definitions, after: Definitions, direction: "request" | "response") {
    this.#before = before;
    this.#after = after;
    this.#direction = direction;
  }

  compare(before: Schema, after: Schema, at: string): void {
    if (typeof before.$ref === "string" && typeof after.$ref === "string") {
      const pair = `${before.$ref} ${after.$ref}`;
      if (this.#seen.has(pair)) return;
      this.#seen.add(pair);
    }
    const old = merge(before, this.#before);
    const now = merge(after, this.#after);
    if (this.#compareUnions(old, now, at)) return;
    this.#compareTypes(old, now, at);
    this.#compareValues(old, now, at);
    this.#compareFields(old, now, at);
    this.#compareParts(old, now, at);
    for (const keyword of Object.keys(limits)) this.#compareLimits(old, now, keyword, at);
    for (const keyword of Object.values(others).flat()) {
      if (!this.#isSame(keyword, old[keyword], now[keyword])) {
        this.#add(at, `${keyword} changed`, "may break");
      }
    }
  }

  /** Whether a keyword that is not looked into says the same. */
  #isSame(keyword: string, before: Json | undefined, after: Json | undefined): boolean {
    if (before === undefined || after === undefined) return before === after;
    if (others.schema.includes(keyword)) return this.#accept(objectOf(before), objectOf(after));
    if (others.value.includes(keyword)) return JSON.stringify(before) === JSON.stringify(after);
    // Lists and maps of schemas.
    const [old, now] = [Object.entries(before ?? {}), Object.entries(after ?? {})];
    const partners = new Map(now);
    return old.length === now.length &&
      old.every(([name, schema]) =>
        partners.has(name) && this.#accept(objectOf(schema), objectOf(partners.get(name)))
      );
  }

  /** Whether two schemas accept the same values. */
  #accept(before: Schema, after: Schema): boolean {
    const comparison = new Comparison(this.#before, this.#after, this.#direction);
    for (const pair of this.#seen) comparison.#seen.add(pair); // what is compared already
    comparison.compare(before, after, "");
    return comparison.differences.length === 0;
  }

  #add(at: string, text: string, verdict: Verdict): void {
    this.differences.push({ at, text, verdict });
  }

  /** The verdict on a schema that accepts more: callers may receive what they do not know. */
  get #wider(): Verdict {
    return this.#direction === "request" ? "keeps" : "breaks";
  }

  /** The verdict on one that accepts less: code for what is gone may not compile any more. */
  get #narrower(): Verdict {
    return this.#direction === "request" ? "breaks" : "may break";
  }

  /** Compares the branches of unions; a schema without branches counts as the only one. */
  #compareUnions(before: Schema, after: Schema, at: string): boolean {
    const old = branchesOf(before);
    const now = branchesOf(after);
    if (!old && !now) return false;
    let [removed, added] = [old ?? [before], now ?? [after]];
    const pairs: [Schema, Schema][] = [];
    const pair = (belong: (before: Schema, after: Schema) => boolean) => {
      added = added.filter((branch) => {
        const partner = removed.find((other) => belong(other, branch));
        if (partner) pairs.push([partner, branch]);
        removed = removed.filter((other) => other !== partner);
        return !partner;
      });
    };
    pair((before, after) => before.$ref !== undefined && before.$ref === after.$ref);
    pair((before, after) => this.#accept(before, after));
    pair(() => removed.length === 1 && added.length === 1);

    for (const branch of removed) {
      this.#add(at, `no longer allows ${nameOf(branch)}`, this.#narrower);
    }
    for (const branch of added) this.#add(at, `now allows ${nameOf(branch)}`, this.#wider);
    for (const [partner, branch] of pairs) this.compare(partner, branch, at);
    return true;
  }

  #compareTypes(before: Schema, after: Schema, at: string): void {
    const old = typesOf(before);
    const now = typesOf(after);
    const [from, to] = [old, now].map((types) => types.join(" or "));
    if (from === to) return;
    const added = now.filter((type) => !covers(old, type));
    const removed = old.filter((type) => !covers(now, type));
    // For the compiler whole numbers and others are one type.
    const rounded = (types: string[]) => types.map((type) => type === "integer" ? "number" : type);
    const isNumeric = String(rounded(old)) === String(rounded(now));
    const verdict = added.length > 0 && this.#wider === "breaks"
      ? isNumeric ? "may break" : "breaks"
      : removed.some((type) => type !== "null" || this.#direction === "request")
      ? isNumeric && this.#direction === "response" ? "keeps" : this.#narrower
      : "keeps";
    this.#add(at, `type: ${from} → ${to}`, verdict);
  }

  #compareValues(before: Schema, after: Schema, at: string): void {
    const old = valuesOf(before);
    const now = valuesOf(after);
    if (!old && !now) return;
    if (!old) return this.#add(at, `is now only ${now?.join(" or ")}`, this.#narrower);
    if (!now) return this.#add(at, `is no longer only ${old.join(" or ")}`, this.#wider);
    const added = now.filter((value) => !old.includes(value));
    const removed = old.filter((value) => !now.includes(value));
    if (added.length > 0) this.#add(at, `now allows ${added.join(" and ")}`, this.#wider);
    if (removed.length > 0) {
      this.#add(at, `no longer allows ${removed.join(" and ")}`, this.#narrower);
    }
  }

  #compareFields(before: Schema, after: Schema, at: string): void {
    const [old, now] = [objectOf(before.properties), objectOf(after.properties)];
    const wasRequired = new Set(listOf(before.required).map(String));
    const isRequired = new Set(listOf(after.required).map(String));
    const names = [Object.keys(old), Object.keys(now), [...wasRequired], [...isRequired]].flat();
    for (const name of new Set(names)) {
      const place = join(at, name);
      const required = isRequired.has(name);
      const [had, has] = [old, now].map((properties) => Object.hasOwn(properties, name));
      if (had && !has) {
        // The compiler refuses fields that a type does not have.
        this.#add(place, "removed", "breaks");
      } else if (!had && has) {
        const breaks = this.#direction === "request" && required;
        const kind = required ? "required" : "optional";
        this.#add(place, `added, ${kind}`, breaks ? "breaks" : "keeps");
      } else {
        if (required && !wasRequired.has(name)) {
          this.#add(place, "is now required", this.#direction === "request" ? "breaks" : "keeps");
        } else if (!required && wasRequired.has(name)) {
          this.#add(place, "is no longer required", this.#wider);
        }
        this.compare(objectOf(old[name]), objectOf(now[name]), place);
      }
    }
  }

  /** Compares what items and fields without a name have to be. */
  #compareParts(before: Schema, after: Schema, at: string): void {
    for (const [keyword, what] of [["items", "items"], ["additionalProperties", "other fields"]]) {
      const [old, now] = [before, after].map((schema) => objectOf(schema[keyword ?? ""]));
      if (!old || !now) continue;
      if (isNothing(old) !== isNothing(now)) {
        const breaks = isNothing(now) && this.#direction === "request";
        const change = isNothing(now) ? "no longer allows" : "now allows";
        this.#add(at, `${change} ${what}`, breaks ? "may break" : "keeps");
      } else if (!isNothing(old) && Object.keys({ ...old, ...now }).length > 0) {
        this.compare(old, now, join(at, "*"));
      }
    }
  }

  #compareLimits(before: Schema, after: Schema, keyword: string, at: string): void {
    const [old, now] = [before[keyword], after[keyword]];
    if (old === now) return;
    const isUpper = limits[keyword] === "more";
    const none = isUpper ? Infinity : -Infinity;
    const rises = Number(now ?? none) > Number(old ?? none);
    const accepts = rises === isUpper ? this.#wider : this.#narrower;
    // The compiler knows of no limits: only some values, and only at run time, are concerned.
    const isRequest = this.#direction === "request";
    const verdict = accepts === "keeps" || (!isRequest && rises !== isUpper)
      ? "keeps"
      : "may break";
    this.#add(at, `${keyword}: ${old ?? "none"} → ${now ?? "none"}`, verdict);
  }
}

/** Follows the reference of a schema and takes in the parts of `allOf`. */
function merge(schema: Schema, definitions: Definitions, seen: readonly string[] = []): Schema {
  const { $ref, allOf, ...own } = schema;
  const parts = listOf(allOf).map((part) => objectOf(part));
  if (typeof $ref === "string" && !seen.includes($ref)) {
    seen = [...seen, $ref];
    parts.unshift(definitions[$ref] ?? {});
  }
  const merged: Schema = { ...own };
  const rest: Schema[] = [];
  for (const part of parts.map((part) => merge(part, definitions, seen))) {
    const conflict = Object.entries(part).some(([keyword, value]) =>
      merged[keyword] !== undefined && JSON.stringify(merged[keyword]) !== JSON.stringify(value) &&
      keyword !== "properties" && keyword !== "required"
    );
    const repeated = Object.keys(objectOf(part.properties))
      .some((name) => Object.hasOwn(objectOf(merged.properties), name));
    if (conflict || repeated) {
      rest.push(part);
      continue;
    }
    const { properties, required } = merged;
    Object.assign(merged, part);
    if (isObject(properties)) merged.properties = { ...properties, ...objectOf(part.properties) };
    if (Array.isArray(required)) {
      merged.required = [...new Set([...required, ...listOf(part.required)])];
    }
  }
  return rest.length > 0 ? { ...merged, allOf: rest } : merged;
}

/** The branches of a schema that is nothing but a union. */
function branchesOf(schema: Schema): Schema[] | undefined {
  const { anyOf, oneOf, discriminator: _, ...rest } = schema;
  const branches = anyOf ?? oneOf;
  if (!Array.isArray(branches) || (anyOf && oneOf) || Object.keys(rest).length > 0) {
    return undefined;
  }
  return branches.map((branch) => objectOf(branch));
}

/** The types of the values that fit, in order. */
function typesOf({ type }: Schema): string[] {
  return type === undefined ? ["any"] : [type].flat().map(String).sort();
}

function covers(types: string[], type: string): boolean {
  return types.includes(type) || types.includes("any") ||
    (type === "integer" && types.includes("number"));
}

/** The values that fit, as JSON, if a schema lists them. */
function valuesOf({ const: constant, enum: values }: Schema): string[] | undefined {
  const list = constant === undefined ? values : [constant];
  return Array.isArray(list) ? list.map((value) => JSON.stringify(value)) : undefined;
}

/** What a branch of a union is called. */
function nameOf(schema: Schema): string {
  return String(schema.$ref ?? valuesOf(schema)?.join(" or ") ?? typesOf(schema).join(" or "));
}
