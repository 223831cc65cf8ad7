/** Writes a text as one line without control characters, which could change a terminal. */
export function toLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, " ").trim();
}
