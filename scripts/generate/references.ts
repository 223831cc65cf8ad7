/** References that the tools after the bundler do not follow. @module */

import { follow, isObject, Names, objectOf } from "./schema.ts";
import type { Json, JsonObject } from "./spec.ts";

/**
 * Makes every reference to a schema one to a named schema, in place.
 *
 * References may point anywhere, such as to a response's schema or to a property of another; types
 * and validators need a name for what they share. The values of a discriminator's mapping may be
 * names of schemas. What leads nowhere, as may be in an extension, is left out.
 *
 * @param document A bundled description.
 */
export function nameReferences(document: JsonObject): void {
  const components = objectOf(document.components);
  const schemas = objectOf(components.schemas);
  const names = new Names(Object.keys(schemas));
  const named = new Map<string, string>();

  const leadsSomewhere = (ref: string): boolean =>
    ref.startsWith("#") && follow(document, ref.slice(1)) !== undefined;

  const nameOf = (ref: string): string => {
    const known = named.get(ref);
    if (known !== undefined) return known;
    const name = names.add(ref.split("/").slice(-2).join(" "));
    const reference = `#/components/schemas/${name}`;
    named.set(ref, reference);
    schemas[name] = follow(document, ref.slice(1)) ?? {};
    components.schemas = schemas;
    document.components = components;
    return reference;
  };

  const visit = (value: Json): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isObject(value)) return;
    const { $ref, discriminator } = value;
    if (typeof $ref === "string") {
      if (!leadsSomewhere($ref)) delete value.$ref;
      else if (isDeep($ref)) value.$ref = nameOf($ref);
    }
    if (isObject(discriminator) && isObject(discriminator.mapping)) {
      const { mapping } = discriminator;
      for (const [key, target] of Object.entries(mapping)) {
        const ref = String(target).startsWith("#")
          ? String(target)
          : `#/components/schemas/${target}`;
        if (leadsSomewhere(ref)) mapping[key] = ref;
        else delete mapping[key];
      }
    }
    Object.values(value).forEach(visit);
  };
  visit(document);
}

/** Whether a reference points to a schema that has no name. */
function isDeep(ref: string): boolean {
  return /\/schema(\/|$)|^#\/components\/schemas\/[^/]+\//.test(ref);
}
