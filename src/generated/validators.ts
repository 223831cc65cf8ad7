// Sketch of the generator's output; replaced by `deno task generate`.
export interface Issue {
  readonly path: string;
  readonly rule: string;
}

/** Returns what the schema rejects, or undefined when the value fits. */
export type Validator = (value: unknown) => Issue[] | undefined;

// deno-lint-ignore no-explicit-any
export function checkKey2XX(value: any): Issue[] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [{ path: "", rule: "type" }];
  }
  if (value.apiKeyValid === false) return undefined;
  if (value.apiKeyValid !== true) return [{ path: "/apiKeyValid", rule: "const" }];
  if (!Number.isInteger(value.data?.credits)) return [{ path: "/data/credits", rule: "type" }];
  return undefined;
}
