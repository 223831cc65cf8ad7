// Made by `deno task generate` from openapi/openapi.yaml. Do not edit.
// deno-lint-ignore-file
// @ts-nocheck: it is JavaScript that @exodus/schemasafe wrote

import type { SchemaCheck } from "../operation.ts";

/** Check whether a value matches the schema of a response. */
export const schemaChecks: readonly SchemaCheck[] = /* @__PURE__ */ (function () {
  "use strict";
  const hasOwn = Function.prototype.call.bind(Object.prototype.hasOwnProperty);
  const errorMerge = ({ rule, place }, base) => ({ rule, place: base + place.slice(1) });
  const ref0 = function validate(data) {
    validate.errors = null;
    if (!(typeof data === "object" && data && !Array.isArray(data))) {
      validate.errors = [{ rule: "type", place: "#" }];
      return false;
    }
    if (!(data.apiKeyValid !== undefined && hasOwn(data, "apiKeyValid"))) {
      validate.errors = [{ rule: "required", place: "#/apiKeyValid" }];
      return false;
    }
    if (![true, false].includes(data.apiKeyValid)) {
      validate.errors = [{ rule: "enum", place: "#/apiKeyValid" }];
      return false;
    }
    const sub0 = (() => {
      if (!(data.apiKeyValid === true)) return false;
      return true;
    })();
    if (sub0) {
      const err0 = validate.errors;
      const res0 = ref1(data);
      const suberr0 = ref1.errors;
      validate.errors = err0;
      if (!res0) {
        validate.errors = [errorMerge(suberr0[0], "#")];
        return false;
      }
    }
    const sub1 = (() => {
      if (!(data.apiKeyValid === false)) return false;
      return true;
    })();
    if (sub1) {
      const err1 = validate.errors;
      const res1 = ref2(data);
      const suberr1 = ref2.errors;
      validate.errors = err1;
      if (!res1) {
        validate.errors = [errorMerge(suberr1[0], "#")];
        return false;
      }
    }
    return true;
  };
  const ref1 = function validate(data) {
    validate.errors = null;
    if (!(typeof data === "object" && data && !Array.isArray(data))) {
      validate.errors = [{ rule: "type", place: "#" }];
      return false;
    }
    if (!(data.apiKeyValid !== undefined && hasOwn(data, "apiKeyValid"))) {
      validate.errors = [{ rule: "required", place: "#/apiKeyValid" }];
      return false;
    }
    if (!(data.data !== undefined && hasOwn(data, "data"))) {
      validate.errors = [{ rule: "required", place: "#/data" }];
      return false;
    }
    if (!(typeof data.apiKeyValid === "boolean")) {
      validate.errors = [{ rule: "type", place: "#/apiKeyValid" }];
      return false;
    }
    if (!(data.apiKeyValid === true)) {
      validate.errors = [{ rule: "const", place: "#/apiKeyValid" }];
      return false;
    }
    if (!(typeof data.data === "object" && data.data && !Array.isArray(data.data))) {
      validate.errors = [{ rule: "type", place: "#/data" }];
      return false;
    }
    if (!(data.data.credits !== undefined && hasOwn(data.data, "credits"))) {
      validate.errors = [{ rule: "required", place: "#/data/credits" }];
      return false;
    }
    if (!Number.isInteger(data.data.credits)) {
      validate.errors = [{ rule: "type", place: "#/data/credits" }];
      return false;
    }
    return true;
  };
  const ref2 = function validate(data) {
    validate.errors = null;
    if (!(typeof data === "object" && data && !Array.isArray(data))) {
      validate.errors = [{ rule: "type", place: "#" }];
      return false;
    }
    if (!(data.apiKeyValid !== undefined && hasOwn(data, "apiKeyValid"))) {
      validate.errors = [{ rule: "required", place: "#/apiKeyValid" }];
      return false;
    }
    if (!(typeof data.apiKeyValid === "boolean")) {
      validate.errors = [{ rule: "type", place: "#/apiKeyValid" }];
      return false;
    }
    if (!(data.apiKeyValid === false)) {
      validate.errors = [{ rule: "const", place: "#/apiKeyValid" }];
      return false;
    }
    return true;
  };
  return [
    ref0,
    ref1,
    ref2,
  ];
})();
