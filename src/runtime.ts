/** Tells whether this runs on Deno or on Bun. dnt would replace `globalThis.Deno`. */
export function runsOn(name: "Deno" | "Bun"): boolean {
  return `${globalThis.navigator?.userAgent}`.startsWith(`${name}/`);
}
