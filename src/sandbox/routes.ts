/** Decodes a segment of a URL's path; returns one with a malformed escape unchanged. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
