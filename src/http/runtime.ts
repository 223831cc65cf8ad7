/** What only Deno has. Declared here, so that dnt puts no shim in its place. */
declare const Deno: unknown;

/** Whether this runs on Deno. */
export const isDeno: boolean = typeof Deno !== "undefined";
