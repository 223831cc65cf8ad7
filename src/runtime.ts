/** Tells whether this runs on Deno. */
export function isDeno(): boolean {
  return /^Deno\//.test(globalThis.navigator?.userAgent); // dnt would replace `globalThis.Deno`.
}
