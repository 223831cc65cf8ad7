// Made by `deno task generate` from openapi/openapi.yaml. Do not edit.
// deno-lint-ignore-file
// @ts-nocheck: it is JavaScript that @exodus/schemasafe wrote

import type { SchemaCheck } from "../operation.ts";

/** Checks whether a value matches the schema of a response, by method, path and status. */
export const schemaChecks: Readonly<Record<string, SchemaCheck>> = {
  "POST /checkKey 2XX": /* @__PURE__ */ (function () {
    "use strict";
    const hasOwn = Function.prototype.call.bind(Object.prototype.hasOwnProperty);
    const ref2 = function validate(data) {
      validate.errors = null;
      if (!(typeof data === "object" && data && !Array.isArray(data))) {
        validate.errors = [{ keywordLocation: "#/type", instanceLocation: "#" }];
        return false;
      }
      if (!(data.apiKeyValid !== undefined && hasOwn(data, "apiKeyValid"))) {
        validate.errors = [{ keywordLocation: "#/required", instanceLocation: "#/apiKeyValid" }];
        return false;
      }
      if (!(data.data !== undefined && hasOwn(data, "data"))) {
        validate.errors = [{ keywordLocation: "#/required", instanceLocation: "#/data" }];
        return false;
      }
      if (!(typeof data.apiKeyValid === "boolean")) {
        validate.errors = [{
          keywordLocation: "#/properties/apiKeyValid/type",
          instanceLocation: "#/apiKeyValid",
        }];
        return false;
      }
      if (!(data.apiKeyValid === true)) {
        validate.errors = [{
          keywordLocation: "#/properties/apiKeyValid/const",
          instanceLocation: "#/apiKeyValid",
        }];
        return false;
      }
      if (!(typeof data.data === "object" && data.data && !Array.isArray(data.data))) {
        validate.errors = [{
          keywordLocation: "#/properties/data/type",
          instanceLocation: "#/data",
        }];
        return false;
      }
      if (!(data.data.credits !== undefined && hasOwn(data.data, "credits"))) {
        validate.errors = [{
          keywordLocation: "#/properties/data/required",
          instanceLocation: "#/data/credits",
        }];
        return false;
      }
      if (!Number.isInteger(data.data.credits)) {
        validate.errors = [{
          keywordLocation: "#/properties/data/properties/credits/type",
          instanceLocation: "#/data/credits",
        }];
        return false;
      }
      return true;
    };
    const errorMerge = ({ keywordLocation, instanceLocation }, schemaBase, dataBase) => ({
      keywordLocation: `${schemaBase}${keywordLocation.slice(1)}`,
      instanceLocation: `${dataBase}${instanceLocation.slice(1)}`,
    });
    const ref3 = function validate(data) {
      validate.errors = null;
      if (!(typeof data === "object" && data && !Array.isArray(data))) {
        validate.errors = [{ keywordLocation: "#/type", instanceLocation: "#" }];
        return false;
      }
      if (!(data.apiKeyValid !== undefined && hasOwn(data, "apiKeyValid"))) {
        validate.errors = [{ keywordLocation: "#/required", instanceLocation: "#/apiKeyValid" }];
        return false;
      }
      if (!(typeof data.apiKeyValid === "boolean")) {
        validate.errors = [{
          keywordLocation: "#/properties/apiKeyValid/type",
          instanceLocation: "#/apiKeyValid",
        }];
        return false;
      }
      if (!(data.apiKeyValid === false)) {
        validate.errors = [{
          keywordLocation: "#/properties/apiKeyValid/const",
          instanceLocation: "#/apiKeyValid",
        }];
        return false;
      }
      return true;
    };
    const ref1 = function validate(data) {
      validate.errors = null;
      if (!(typeof data === "object" && data && !Array.isArray(data))) {
        validate.errors = [{ keywordLocation: "#/allOf/0/type", instanceLocation: "#" }];
        return false;
      }
      if (!(data.apiKeyValid !== undefined && hasOwn(data, "apiKeyValid"))) {
        validate.errors = [{
          keywordLocation: "#/allOf/0/required",
          instanceLocation: "#/apiKeyValid",
        }];
        return false;
      }
      if (!(data.apiKeyValid === true || data.apiKeyValid === false)) {
        validate.errors = [{
          keywordLocation: "#/allOf/0/properties/apiKeyValid/enum",
          instanceLocation: "#/apiKeyValid",
        }];
        return false;
      }
      const sub0 = (() => {
        if (!(data.apiKeyValid === true)) return false;
        return true;
      })();
      if (sub0) {
        const err0 = validate.errors;
        const res0 = ref2(data);
        const suberr0 = ref2.errors;
        validate.errors = err0;
        if (!res0) {
          validate.errors = [errorMerge(suberr0[0], "#/allOf/0/allOf/0/then/$ref", "#")];
          return false;
        }
      }
      const sub1 = (() => {
        if (!(data.apiKeyValid === false)) return false;
        return true;
      })();
      if (sub1) {
        const err1 = validate.errors;
        const res1 = ref3(data);
        const suberr1 = ref3.errors;
        validate.errors = err1;
        if (!res1) {
          validate.errors = [errorMerge(suberr1[0], "#/allOf/0/allOf/1/then/$ref", "#")];
          return false;
        }
      }
      return true;
    };
    const ref0 = function validate(data) {
      validate.errors = null;
      const err2 = validate.errors;
      const res2 = ref1(data);
      const suberr2 = ref1.errors;
      validate.errors = err2;
      if (!res2) {
        validate.errors = [errorMerge(suberr2[0], "#/allOf/0/$ref", "#")];
        return false;
      }
      return true;
    };
    return ref0;
  })(),
};
