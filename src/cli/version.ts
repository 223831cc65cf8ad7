/** The package's version: a copy of deno.json's, written by `deno task version`. */
export const version = "0.1.0";
