/** Returns a URL without its query and fragment. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*/s, "");
}

/**
 * Removes the queries of URLs in a text, but not the punctuation that follows them: of
 * `cannot reach https://a.example/b?c=d.`, the period stays.
 */
export function withoutQueriesIn(text: string): string {
  return text.replace(/(\bhttps?:\/\/[^\s?#"]*)[?#][^\s"]*?(?=[).,:;!]*([\s"]|$))/gi, "$1");
}
