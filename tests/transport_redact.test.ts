import { expect } from "@std/expect";

import { reasonOf, Secrets } from "../src/transport/redact.ts";

/** The secrets of a list. */
function secretsOf(...keys: string[]): Secrets {
  const secrets = new Secrets();
  for (const key of keys) secrets.add(key);
  return secrets;
}

Deno.test("redact() replaces a key in each form that is promised, and nothing else", () => {
  const inLowerCase = (text: string) => text.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
  const keys = ["some-key", 'J/"k\\l +%~<>', "]]]]]]]]", "$&$&$&$&", "12345678", "%2f%2F%2f"];
  for (const key of keys) {
    const encoded = [encodeURIComponent(key), `${new URLSearchParams({ "": key })}`.slice(1)];
    const forms = [key, JSON.stringify(key).slice(1, -1), ...encoded, ...encoded.map(inLowerCase)];
    for (const form of forms) {
      expect([form, secretsOf(key).redact(`→${form}←${form}${form}`)])
        .toEqual([form, "→[redacted]←[redacted][redacted]"]);
    }
    const other = ["", key.slice(1), key.slice(0, -1), "Some-key", "some%2Dkey", "[redacted]"];
    for (const text of other) expect(secretsOf(key).redact(text)).toBe(text);
  }
});

Deno.test("redact() replaces several keys, the longest first, and none below 8 characters", () => {
  const cases: [keys: string[], text: string, redacted: string][] = [
    [[], "some-key", "some-key"],
    [["some-key", "some-key-2"], "some-key-2 some-key", "[redacted] [redacted]"],
    [["some-key-2", "some-key"], "some-key-2 some-key", "[redacted] [redacted]"],
    [["other-key", "some-key"], "some-key other-key", "[redacted] [redacted]"],
    [["short-7", "e", "some-key"], "short-7 e some-key", "short-7 e [redacted]"],
    [["a     b"], "a     b a+++++b a%20%20%20%20%20b", "a     b a+++++b a%20%20%20%20%20b"],
  ];
  for (const [keys, text, redacted] of cases) {
    expect(secretsOf(...keys).redact(text)).toBe(redacted);
  }
  const secrets = secretsOf("first-key");
  expect(secrets.redact("first-key later-key")).toBe("[redacted] later-key");
  secrets.add("later-key");
  expect(secrets.redact("first-key later-key")).toBe("[redacted] [redacted]");
});

const coded = (message: string, code: unknown, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });
const missing = Object.assign(new Error("Requires net access"), { name: "NotCapable" });
const circular: { cause?: unknown } = {};
circular.cause = circular;

/** What may be thrown, and the message and the code of its reason. */
const shapes: [unknown, string, string?][] = [
  ["boom", "boom"],
  [new DOMException("boom", "NetworkError"), "boom"],
  ...[undefined, null, "", 0, 7, {}, Object.create(null), new Error(), { message: {} }, circular]
    .map((thrown): [unknown, string] => [thrown, "unknown reason"]),
  [coded("", "ENOTFOUND"), "ENOTFOUND", "ENOTFOUND"],
  [coded("boom", 7), "boom"],
  [new Error("boom", { cause: { status: 407 } }), "boom"],
  [new TypeError("fetch failed", { cause: new Error("expired") }), "expired"],
  [coded("outer", "OUTER", coded("inner", "INNER")), "inner", "INNER"],
  [coded("outer", "OUTER", new Error("inner")), "inner"],
  [new AggregateError([coded("refused", "ECONNREFUSED")]), "refused", "ECONNREFUSED"],
  [new Error("", { cause: new AggregateError([new Error("refused")]) }), "refused"],
  [new AggregateError([new Error("refused")], "all failed"), "all failed"],
  [new TypeError("fetch failed", { cause: missing }), "Requires net access", "NotCapable"],
];

Deno.test("reasonOf() has the message and the code of the cause, and nothing else", () => {
  for (const [thrown, message, code] of shapes) {
    const reason: Error & { code?: unknown } = reasonOf(thrown, secretsOf());
    expect([reason instanceof Error, reason.message, reason.cause, "code" in reason, reason.code])
      .toEqual([true, message, undefined, code !== undefined, code]);
  }
  const thrown = Object.assign(coded("Bad some-key", "no-some-key"), { request: "some-key" });
  const reason = reasonOf(thrown, secretsOf("some-key"));
  expect([reason.message, { ...reason }]).toEqual(["Bad [redacted]", { code: "no-[redacted]" }]);
});

Deno.test("reasonOf() has no queries of addresses", () => {
  const texts = {
    "for url (http://a.example:80/b?c=d&e#g): refused": "for url (http://a.example:80/b): refused",
    "for url (http://a.example/b?c=(d)&e=f): refused": "for url (http://a.example/b): refused",
    'get "https://a.example/b?c" or HTTP://A.EXAMPLE?c, why?':
      'get "https://a.example/b" or HTTP://A.EXAMPLE, why?',
    "https://a.example/b#c": "https://a.example/b",
    "(https://a.example/o'b?c='d'&e=f): no": "(https://a.example/o'b): no",
    "What? a?b=c (file:///a?b)": "What? a?b=c (file:///a?b)",
  };
  for (const [text, shown] of Object.entries(texts)) {
    expect(reasonOf(new Error(text), secretsOf()).message).toBe(shown);
  }
});
