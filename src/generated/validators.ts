// Made by `deno task generate` from openapi/openapi.yaml. Do not edit.
// deno-lint-ignore-file
import { type Check, findInItems, findInOthers, findInPart, has } from "../checks.ts";
import { isObject, issueAt, lengthOf, matchesAny } from "../checks.ts";

export const checkKeyStatus: Check = (value) => {
  if (!isObject(value)) return issueAt("", "type");
  if (!has(value, "apiKeyValid")) return issueAt("/apiKeyValid", "required");
  switch (value.apiKeyValid) {
    case true: {
      const issue = checkValidKey(value);
      if (issue) return issue;
      break;
    }
    case false: {
      const issue = checkInvalidKey(value);
      if (issue) return issue;
      break;
    }
    default:
      return issueAt("/apiKeyValid", "enum");
  }
};

export const checkValidKey: Check = (value) => {
  if (!isObject(value)) return issueAt("", "type");
  if (!has(value, "apiKeyValid")) return issueAt("/apiKeyValid", "required");
  if (!has(value, "data")) return issueAt("/data", "required");
  if (value.apiKeyValid !== true) return issueAt("/apiKeyValid", "const");
  if (!isObject(value.data)) return issueAt("/data", "type");
  if (!has(value.data, "credits")) return issueAt("/data/credits", "required");
  if (!Number.isInteger(value.data.credits)) return issueAt("/data/credits", "type");
};

export const checkInvalidKey: Check = (value) => {
  if (!isObject(value)) return issueAt("", "type");
  if (!has(value, "apiKeyValid")) return issueAt("/apiKeyValid", "required");
  if (value.apiKeyValid !== false) return issueAt("/apiKeyValid", "const");
};
