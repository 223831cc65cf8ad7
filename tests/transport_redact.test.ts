import { expect } from "@std/expect";
import fc from "fast-check";

import { reasonOf, redactor } from "../src/transport/redact.ts";

// Keys are Latin-1. What surrounds them here is not, so that it shows what was replaced.
const before = "\u2192";
const after = "\u2190";

/** Any text that can be sent in a header unchanged. */
const anyKey = fc.stringMatching(/^[!-~\xa1-\xff]([ -~\xa0-\xff]{0,30}[!-~\xa1-\xff])?$/);

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(4, "0");
const escaped = (text: string) =>
  text.replace(/[^]/g, (character) => `%${hex(character).slice(2)}`);
const percent = (character: string) =>
  character < "\x80" ? escaped(character) : encodeURIComponent(character);

/** How texts, URLs, forms and JSON write a character. */
const encodings: Record<string, (character: string) => string> = {
  "as it is": (character) => character,
  encodeURIComponent,
  "lower-case encodeURIComponent": (character) => {
    const encoded = encodeURIComponent(character);
    return encoded === character ? character : encoded.toLowerCase();
  },
  form: (character) => new URLSearchParams([["", character]]).toString().slice(1),
  "every character as %XX": (character) => percent(character).toUpperCase(),
  "every character as %xx": (character) => percent(character).toLowerCase(),
  "JSON.stringify": (character) => JSON.stringify(character).slice(1, -1),
  "JSON with \\/": (character) => JSON.stringify(character).slice(1, -1).replace("/", "\\/"),
  "\\uxxxx": (character) => `\\u${hex(character)}`,
  "\\uXXXX": (character) => `\\u${hex(character).toUpperCase()}`,
};

/** A key, and the same one encoded, each character in a way of its own. */
const mixed = fc.array(
  fc.tuple(
    fc.stringMatching(/^[!-~\xa1-\xff]$/),
    fc.constantFrom(...Object.values(encodings)),
  ),
  { minLength: 1, maxLength: 30 },
).map((parts) => ({
  key: parts.map(([character]) => character).join(""),
  echo: parts.map(([character, encode]) => encode(character)).join(""),
}));

for (const [name, encode] of Object.entries(encodings)) {
  Deno.test(`redactor() replaces any key that is echoed: ${name}`, () => {
    fc.assert(fc.property(anyKey, (key) => {
      const echo = key.replace(/[^]/g, encode);
      const redact = redactor(key);
      expect(redact(`${before}${echo}${after}${echo}`))
        .toBe(`${before}[redacted]${after}[redacted]`);
    }));
  });
}

Deno.test("redactor() replaces any key that is echoed in mixed encodings", () => {
  fc.assert(
    fc.property(mixed, ({ key, echo }) => {
      expect(redactor(key)(`${before}${echo}${after}`)).toBe(`${before}[redacted]${after}`);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("redactor() replaces a key that is encoded as one text", () => {
  fc.assert(fc.property(anyKey, (key) => {
    const echoes = [
      encodeURIComponent(key),
      new URLSearchParams([["", key]]).toString().slice(1),
      new URL(`https://a.example/?${encodeURIComponent(key)}`).search.slice(1),
      JSON.stringify(key).slice(1, -1),
    ];
    for (const echo of echoes) {
      expect(redactor(key)(`${before}${echo}${after}`)).toBe(`${before}[redacted]${after}`);
    }
  }));
});

Deno.test("redactor() leaves text without the key as it is", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.stringMatching(/^(%[2-7][0-9a-fA-F]|\\u00[2-7][0-9a-fA-F]|\\[ -~]|[x-zX-Z]{1,3})$/),
  );
  const text = fc.array(piece).map((pieces) => pieces.join(""));
  const key = fc.stringMatching(/^[x-z!"'()/=<>~-]{1,4}$/); // not what escapes are made of
  fc.assert(
    fc.property(key, text, (key, text) => {
      const decoded = text
        .replace(
          /(?:%|\\u00)([0-7][0-9a-f])/gi,
          (_, code) => String.fromCharCode(parseInt(code, 16)),
        )
        .replaceAll("\\", "");
      const has = decoded.toLowerCase().includes(key) || text.toLowerCase().includes(key);
      const redacted = redactor(key)(text);
      if (!has) expect(redacted).toBe(text);
      else if (text.includes(key)) expect(redacted).toContain("[redacted]");
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("redactor() replaces all of some keys in one pass", () => {
  const redact = redactor("red", undefined, "redact", "", null, 7, "[", "red");
  expect(redact("[red] redacted 7")).toBe("[redacted][redacted]] [redacted]ed 7");
  expect(redactor("]")("[red]")).toBe("[red[redacted]");
});

Deno.test("redactor() without keys changes no text", () => {
  for (const redact of [redactor(), redactor(undefined, "", 5)]) {
    for (const text of ["", "\n", "a", "$^", "[redacted]"]) expect(redact(text)).toBe(text);
    expect(redact("abc", 2)).toBe("ab");
    expect(redact("abc", 0)).toBe("");
  }
});

Deno.test("redactor() is the same each time it is used", () => {
  const redact = redactor("key");
  for (const text of ["key", "a key", "key", "no", "key"]) {
    expect(redact(text)).toBe(text.replace("key", "[redacted]"));
  }
});

// Cuts, and long keys

/** What is left of keys between the arrows. */
const remains = (text: string) => text.replace(/[\u2190\u2192]+/g, " ").trim();

Deno.test("redactor() leaves no part of a key where it cuts", () => {
  const cut = fc.tuple(
    mixed,
    fc.nat(200),
    fc.nat(200),
    fc.integer({ min: 1, max: 3 }),
    fc.nat(500),
  );
  fc.assert(
    fc.property(cut, ([{ key, echo }, leading, trailing, count, length]) => {
      const text = before.repeat(leading) + `${echo}${after}`.repeat(count) +
        after.repeat(trailing);
      const result = redactor(key)(text, length);
      if (text.length > length) expect(result.length).toBeLessThanOrEqual(length);
      for (const part of remains(result).split(" ")) {
        expect("[redacted]".startsWith(part)).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("redactor() cuts text without the key at the length", () => {
  fc.assert(fc.property(anyKey, fc.nat(300), fc.nat(300), (key, size, length) => {
    const text = before.repeat(size);
    expect(redactor(key)(text, length)).toBe(text.slice(0, length));
  }));
});

Deno.test("redactor() replaces keys of up to 20,000 characters", () => {
  const alphabet = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join(
    "",
  );
  const latin = String.fromCharCode(...Array.from({ length: 90 }, (_, index) => 0xa1 + index));
  const alphabets = [alphabet, alphabet + latin, "a", "aé", "%\\", "\xff"];
  for (const size of [1, 2, 999, 1_000, 1_001, 1_002, 5_000, 20_000]) {
    for (const characters of alphabets) {
      const { length } = characters;
      const key = Array.from({ length: size }, (_, index) => characters[index ** 2 % 251 % length])
        .join("");
      const redact = redactor(key);
      for (const encode of Object.values(encodings)) {
        const echo = key.replace(/[^]/g, encode);
        const text = `${before}${echo}${after.repeat(7 * size)}`;
        const result = redact(text);
        expect(remains(result) === "[redacted]").toBe(true);
        expect(result.endsWith(after)).toBe(true); // no more is lost than a key may take
        const start = remains(redact(text, 2 + Math.floor(size / 2)));
        expect("[redacted]".startsWith(start)).toBe(true);
      }
    }
  }
});

// Reasons

const plain = redactor();

Deno.test("reasonOf() has the message of what was thrown", () => {
  const withCode = Object.assign(new Error(""), { code: "ENOTFOUND" });
  const getter = {
    get message() {
      throw new Error("The getter was called");
    },
  };
  const circular: { cause?: unknown } = {};
  circular.cause = circular;
  const deep = Array.from({ length: 9 }).reduce<Error>(
    (cause, _, index) => new Error(`${index}`, { cause }),
    new Error("innermost"),
  );
  const shapes: [unknown, string][] = [
    [new RangeError("boom"), "boom"],
    [new DOMException("boom", "NetworkError"), "boom"],
    [{ message: "boom" }, "boom"],
    [{ message: "boom", cause: {} }, "boom"],
    [{ message: "boom", cause: null, errors: [] }, "boom"],
    [{ message: { text: "boom" } }, "unknown reason"],
    ["boom", "boom"],
    [" boom\n", "boom"],
    [7, "7"],
    [7n, "7"],
    [true, "true"],
    [Symbol("boom"), "Symbol(boom)"],
    ...[undefined, null, "", 0, false, NaN, {}, [], () => {}, new Error()]
      .map((thrown): [unknown, string] => [thrown, "unknown reason"]),
    [new Response("boom"), "unknown reason"],
    [Object.create(null), "unknown reason"],
    [getter, "unknown reason"],
    [circular, "unknown reason"],
    [withCode, "ENOTFOUND"],
    [new TypeError("fetch failed", { cause: new Error("expired") }), "expired"],
    [new TypeError("fetch failed", { cause: new Error() }), "fetch failed"],
    [new TypeError("fetch failed", { cause: "boom" }), "boom"],
    [new TypeError("fetch failed", { cause: getter }), "fetch failed"],
    [new TypeError("", { cause: new AggregateError([new Error("refused")]) }), "refused"],
    [new AggregateError([new Error("first"), new Error("second")], "all failed"), "first"],
    [deep, "4"], // of a long chain, the innermost that is reached
  ];
  for (const [thrown, message] of shapes) {
    const reason = reasonOf(thrown, plain);
    expect([reason instanceof Error, reason.message]).toEqual([true, message]);
    expect(reason.cause).toBe(undefined);
  }
});

Deno.test("reasonOf() has the code that belongs to the message", () => {
  const coded = (code: unknown, cause?: unknown) =>
    Object.assign(new Error("boom", { cause }), { code });
  const missing = Object.assign(new Error("Requires net access"), { name: "NotCapable" });
  const codes: [unknown, string | undefined][] = [
    [coded("ECONNRESET"), "ECONNRESET"],
    [coded("OUTER", coded("INNER")), "INNER"],
    [coded("OUTER", new Error("boom")), undefined],
    [coded("OUTER", Object.assign(new Error(), { code: "INNER" })), "INNER"],
    [coded(7), undefined],
    [coded({ text: "boom" }), undefined],
    [missing, "NotCapable"],
    [new TypeError("fetch failed", { cause: missing }), "NotCapable"],
    ["boom", undefined],
    [undefined, undefined],
  ];
  for (const [thrown, code] of codes) {
    const reason = reasonOf(thrown, plain);
    expect("code" in reason).toBe(code !== undefined);
    expect((reason as { code?: unknown }).code).toBe(code);
  }
});

Deno.test("reasonOf() shows no key, and cuts what is long", () => {
  const redact = redactor("the-key");
  const thrown = Object.assign(new Error(`Bad the-key ${"x".repeat(2_000)}`), {
    code: `the-key${"x".repeat(2_000)}`,
    request: { headers: "the-key" },
  });
  const reason = reasonOf(thrown, redact) as Error & { code: string };
  expect(reason.message).toBe(`Bad [redacted] ${"x".repeat(985)}`);
  expect(reason.code).toBe(`[redacted]${"x".repeat(90)}`);
  expect(Object.keys(reason)).toEqual(["code"]);
});

Deno.test("redactor() replaces characters that no header can carry, also percent-encoded", () => {
  for (const key of ["emoji-😀-key", "ｆｕｌｌ", "\ue000private", "lone-\ud800-half", "€uro"]) {
    const redact = redactor(key);
    const percent = encodeURIComponent(key.replace(/\p{Cs}/gu, "\ufffd"));
    for (const echo of [key, percent, percent.toLowerCase(), JSON.stringify(key).slice(1, -1)]) {
      expect(redact(`<${echo}>`)).toBe("<[redacted]>");
    }
  }
});
