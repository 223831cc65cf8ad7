/** The length of the longest message, in characters. */
const MAX_LENGTH = 1_000;

/** White space, controls, bidirectional marks and the like, which could change a terminal. */
const UNSEEN = /[\s\p{C}]+/gu;

/** Writes a message as one line without control characters. */
export function toLine(text: string): string {
  return text.replace(UNSEEN, " ").trim().slice(0, MAX_LENGTH);
}

/** Escapes in JSON what messages do not show: `JSON.stringify` leaves most of it as it is. */
export function escapeUnseen(json: string): string {
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(UNSEEN, (found) => found.replace(/[^ ]/g, escape));
}

/** Returns a URL without its query and fragment. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*/s, "");
}
