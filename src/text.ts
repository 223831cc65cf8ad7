/** The length of the longest message, in characters. */
const MAX_LENGTH = 1_000;

/** Writes a message as one line without control characters, which could change a terminal. */
export function toLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, " ").trim().slice(0, MAX_LENGTH);
}

/** Returns a URL without its query and fragment. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*/s, "");
}
