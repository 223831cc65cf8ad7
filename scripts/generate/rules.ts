/** Rules for the document in addition to Redocly's: a plugin for its lint. @module */

import type { RawUniversalConfig } from "@redocly/openapi-core";

type Plugin = Exclude<NonNullable<RawUniversalConfig["plugins"]>[number], string>;

/** Keywords next to which a property may be declared outside of `properties`. */
const applicator = /^(\$ref|allOf|anyOf|oneOf|if|patternProperties|dependentSchemas)$/;
/** Places where a schema is part of another one, which may declare the property. */
const part = /\/((allOf|anyOf|oneOf)\/\d+|dependentSchemas\/[^/]+|if|then|else|not)$/;

const rules: NonNullable<Plugin["rules"]>["oas3"] = {
  "idempotent": () => ({
    Operation(operation, { report, location }) {
      for (const [name, value] of Object.entries(operation)) {
        if (name !== "x-idempotent" && /^x-.*(idem|potent)/i.test(name)) {
          const message = `Unknown extension \`${name}\`; did you mean \`x-idempotent\`?`;
          report({ message, location: location.child(name).key() });
        } else if (name === "x-idempotent" && typeof value !== "boolean") {
          report({ message: "Expected `true` or `false`", location: location.child(name) });
        }
      }
    },
  }),

  "schema": () => ({
    Schema(schema, { report, location }) {
      if ("$dynamicRef" in schema) {
        const message = "`$dynamicRef` is not supported; use `$ref`";
        report({ message, location: location.child("$dynamicRef").key() });
      }
      const { properties, required = [], additionalProperties } = schema;
      const open = additionalProperties || part.test(location.pointer) ||
        Object.keys(schema).some((keyword) => applicator.test(keyword));
      if (open || !properties) return;
      for (const [index, name] of required.entries()) {
        if (Object.hasOwn(properties, name)) continue;
        const message = `\`required\` names \`${name}\`, which is not in \`properties\``;
        report({ message, location: location.child(["required", index]) });
      }
    },
  }),

  "security": () => {
    let header: string | undefined;
    return {
      SecurityScheme({ type, in: place, name = "", scheme }, { report, location }) {
        if (type !== "apiKey" || place !== "header") {
          const kind = [type, scheme, place && `in ${place}`].filter(Boolean).join(" ");
          report({ message: `The client sends an API key in a header, not ${kind}`, location });
        } else if (name.toLowerCase() !== (header ??= name).toLowerCase()) {
          const message =
            `The client has one header for the key, not \`${header}\` and \`${name}\``;
          report({ message, location: location.child("name") });
        }
      },
      SecurityRequirement(requirement, { report, location }) {
        const names = Object.keys(requirement);
        const message = `The client sends one API key, not ${names.join(" and ")}`;
        if (names.length > 1) report({ message, location });
      },
    };
  },
};

export const plugin: Plugin = { id: "client", rules: { oas3: rules } };
