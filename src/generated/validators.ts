// Made by `deno task generate` from openapi/openapi.yaml. Do not edit.

import type { Issue } from "../errors.ts";
import type { Validator } from "../operation.ts";

export const checkKey2XX: Validator = validateKeyStatus;

function validateKeyStatus(data: unknown, path = ""): Issue[] | undefined {
  if (!isObject(data)) {
    return fail(path, "type");
  }
  const tag0 = data.apiKeyValid;
  const issues0 = tag0 === true
    ? validateValidKey(data, path)
    : tag0 === false
    ? validateInvalidKey(data, path)
    : fail(path + "/apiKeyValid", tag0 === undefined ? "required" : "const");
  if (issues0) {
    return issues0;
  }
  return undefined;
}

function validateValidKey(data: unknown, path = ""): Issue[] | undefined {
  if (!(isObject(data))) {
    return fail(path, "type");
  }
  if (data.apiKeyValid === undefined) {
    return fail(path + "/apiKeyValid", "required");
  }
  if (true !== data.apiKeyValid) {
    return fail(path + "/apiKeyValid", "const");
  }
  if (data.data === undefined) {
    return fail(path + "/data", "required");
  }
  const data1: unknown = data.data;
  if (!(isObject(data1))) {
    return fail(path + "/data", "type");
  }
  if (data1.credits === undefined) {
    return fail(path + "/data/credits", "required");
  }
  const data2: unknown = data1.credits;
  if (!Number.isInteger(data2)) {
    return fail(path + "/data/credits", "type");
  }
  return undefined;
}

function validateInvalidKey(data: unknown, path = ""): Issue[] | undefined {
  if (!(isObject(data))) {
    return fail(path, "type");
  }
  if (data.apiKeyValid === undefined) {
    return fail(path + "/apiKeyValid", "required");
  }
  if (false !== data.apiKeyValid) {
    return fail(path + "/apiKeyValid", "const");
  }
  return undefined;
}

function fail(path: string, rule: string): Issue[] {
  return [{ path, rule }];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
