import { expect } from "@std/expect";
import { describeChanges } from "../../scripts/generate/changes.ts";
import { answering, contractOf, description } from "./support.ts";

const json = (schema: unknown) => ({ content: { "application/json": { schema } } });
const answer = (schema: unknown) => ({ description: "", ...json(schema) });
const ok = { operationId: "value", responses: { 200: answer({ type: "string" }) } };

/** The lines on what changed from one operation to another. */
async function changes(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  rest: Record<string, unknown> = {},
): Promise<string[]> {
  const contracts = await Promise.all(
    [before, after].map((post) =>
      contractOf(description({ "/value": { post: { ...ok, ...post } } }, rest))
    ),
  );
  return lines(describeChanges(contracts[0], contracts[1]!));
}

/** The lines on what changed from one schema to another, in the body of a request or answer. */
async function schemaChanges(before: unknown, after: unknown, components = {}) {
  const [request, response] = await Promise.all([
    changes({ requestBody: json(before) }, { requestBody: json(after) }, { components }),
    changes({ responses: { 200: answer(before) } }, { responses: { 200: answer(after) } }, {
      components,
    }),
  ]);
  return {
    request: request.map((line) => line.replace("request body ", "")),
    response: response.map((line) => line.replace("response 200 ", "")),
  };
}

function lines(report: string): string[] {
  const start = report.indexOf("~ value (POST /value)\n");
  expect(start === -1 ? report : report.slice(0, start)).toMatch(
    /^(0 added, 0 removed, 1 changed; .* callers\n|No operation changed for callers$)/,
  );
  return start === -1 ? [] : report.slice(start).split("\n").slice(1).map((line) => line.trim());
}

const breaks = (...texts: string[]) => texts.map((text) => `${text}: breaks callers`);
const mayBreak = (...texts: string[]) => texts.map((text) => `${text}: may break callers`);
const keeps = (...texts: string[]) => texts.map((text) => `${text}: does not break callers`);

Deno.test("describeChanges() lists operations that were added, removed, renamed and moved", async () => {
  const before = await contractOf(description({
    "/a": { get: { ...ok, operationId: "a" } },
    "/b": { get: { ...ok, operationId: "b" } },
    "/c": { get: { ...ok, operationId: "c" } },
  }));
  const after = await contractOf(description({
    "/a": { get: { ...ok, operationId: "renamed" } },
    "/moved": { get: { ...ok, operationId: "b" } },
    "/d": { get: { ...ok, operationId: "d" } },
  }));
  expect(describeChanges(undefined, before)).toBe(
    "No previous description to compare with: 3 operations",
  );
  expect(describeChanges(before, before)).toBe("No operation changed for callers");
  expect(describeChanges(before, after).split("\n")).toEqual([
    "1 added, 1 removed, 2 changed; breaks callers",
    "+ d (GET /d)",
    "- c (GET /c): breaks callers",
    "~ b (GET /moved)",
    "    path: GET /b → GET /moved: breaks callers",
    "~ renamed (GET /a)",
    "    operationId: a → renamed: may break callers",
  ]);
});

Deno.test("describeChanges() says nothing of what callers cannot see", async () => {
  const before = { summary: "a", responses: { 200: answer({ type: "string", title: "a" }) } };
  const after = {
    summary: "b",
    description: "c",
    tags: ["d"],
    responses: { 200: answer({ description: "e", type: "string", examples: ["f"] }) },
  };
  expect(await changes(before, after)).toEqual([]);
  const components = { schemas: { A: { type: "string" } } };
  const named = await schemaChanges(
    { type: "string" },
    { $ref: "#/components/schemas/A" },
    components,
  );
  expect(named).toEqual({ request: [], response: [] });
});

Deno.test("describeChanges() judges security and repetition", async () => {
  const rest = {
    components: { securitySchemes: { Key: { type: "apiKey", in: "header", name: "X" } } },
  };
  const [none, optional, required] = [[], [{}, { Key: [] }], [{ Key: [] }]];
  const judge = (before: unknown, after: unknown) =>
    changes({ security: before }, { security: after }, rest);
  expect(await judge(none, required)).toEqual(breaks("security: no key → key required"));
  expect(await judge(optional, required)).toEqual(
    breaks("security: key optional → key required"),
  );
  expect(await judge(none, optional)).toEqual(keeps("security: no key → key optional"));
  expect(await judge(required, none)).toEqual(keeps("security: key required → no key"));
  expect(await changes({}, { "x-idempotent": true })).toEqual(
    keeps("repeated after a failure: no → yes"),
  );
});

Deno.test("describeChanges() judges parameters", async () => {
  const parameters = (
    ...list: [place: string, name: string, required: boolean, type?: string][]
  ) => ({
    parameters: list.map(([place, name, required, type = "string"]) => (
      { in: place, name, required, schema: { type } }
    )),
  });
  const before = parameters(["query", "a", false], ["query", "b", true], ["header", "X-C", false]);
  expect(
    await changes(
      before,
      parameters(["query", "a", true], ["query", "b", false], ["header", "x-c", false, "integer"]),
    ),
  ).toEqual([
    ...breaks('request: query parameter "a" is now required'),
    ...keeps('request: query parameter "b" is no longer required'),
    ...breaks('request: header parameter "x-c" type: string → integer'),
  ]);
  expect(
    await changes(
      before,
      parameters(["query", "a", false], ["query", "d", true], ["query", "e", false]),
    ),
  ).toEqual([
    ...breaks('request: query parameter "d" added, required'),
    ...keeps('request: query parameter "e" added, optional'),
    ...breaks('request: query parameter "b" removed', 'request: header parameter "X-C" removed'),
  ]);
});

Deno.test("describeChanges() judges bodies and their media types", async () => {
  const body = (required: boolean, ...types: string[]) => ({
    requestBody: { required, content: Object.fromEntries(types.map((type) => [type, {}])) },
  });
  const type = "application/json";
  expect(await changes({}, body(true, type))).toEqual(breaks("request body added, required"));
  expect(await changes({}, body(false, type))).toEqual(keeps("request body added, optional"));
  expect(await changes(body(true, type), {})).toEqual(breaks("request body removed"));
  expect(await changes(body(false, type), body(true, type))).toEqual(
    breaks("request body is now required"),
  );
  expect(await changes(body(true, type), body(true, "text/csv"))).toEqual([
    ...breaks("request body application/json removed"),
    ...keeps("request body text/csv added"),
  ]);
});

Deno.test("describeChanges() judges statuses", async () => {
  const responses = (...list: [status: string, schema?: unknown][]) => ({
    responses: Object.fromEntries(
      list.map(([status, schema]) => [
        status,
        schema === undefined ? { description: "" } : answer(schema),
      ]),
    ),
  });
  const text = { type: "string" };
  const number = { type: "number" };
  const before = responses(["200", text], ["400", text]);
  expect(await changes(before, responses(["200", text], ["201", text], ["400", text]))).toEqual(
    keeps("response 201 added"),
  );
  expect(
    await changes(before, responses(["200", text], ["201", number], ["202"], ["400", text])),
  ).toEqual(breaks("response 201 added", "response 202 added"));
  expect(await changes(before, responses(["200", text], ["400", text], ["404", number]))).toEqual(
    breaks("response 404 added"),
  );
  expect(await changes(before, responses(["200", text]))).toEqual(breaks("response 400 removed"));
  expect(await changes(before, responses(["2XX", text], ["400", text]))).toEqual([
    ...mayBreak("response 200 removed"),
    ...keeps("response 2XX added"),
  ]);
});

Deno.test("describeChanges() judges fields by the direction that they travel in", async () => {
  const object = (required: string[], properties: Record<string, unknown>) => (
    { type: "object", required, properties }
  );
  const text = { type: "string" };
  expect(
    await schemaChanges(object(["a"], { a: text, b: text }), object(["b"], { a: text, b: text })),
  ).toEqual({
    request: [
      ...keeps('"/a" is no longer required'),
      ...breaks('"/b" is now required'),
    ],
    response: [
      ...breaks('"/a" is no longer required'),
      ...keeps('"/b" is now required'),
    ],
  });
  expect(
    await schemaChanges(object([], { a: text }), object(["b"], { b: text, "c/d": text })),
  ).toEqual({
    request: [
      ...breaks('"/a" removed', '"/b" added, required'),
      ...keeps('"/c~1d" added, optional'),
    ],
    response: [
      ...breaks('"/a" removed'),
      ...keeps('"/b" added, required', '"/c~1d" added, optional'),
    ],
  });
  const nested = (type: string) => ({ type: "array", items: object([], { a: { type } }) });
  expect(await schemaChanges(nested("string"), nested("boolean"))).toEqual({
    request: breaks('"/*/a" type: string → boolean'),
    response: breaks('"/*/a" type: string → boolean'),
  });
});

Deno.test("describeChanges() judges types, values and limits", async () => {
  const cases: [before: unknown, after: unknown, request: string[], response: string[]][] = [
    [
      { type: "string" },
      { type: ["string", "null"] },
      keeps("type: string → null or string"),
      breaks("type: string → null or string"),
    ],
    [
      { type: ["string", "null"] },
      { type: "string" },
      breaks("type: null or string → string"),
      keeps("type: null or string → string"),
    ],
    [
      { type: "integer" },
      { type: "number" },
      keeps("type: integer → number"),
      mayBreak("type: integer → number"),
    ],
    [
      { type: "number" },
      { type: "integer" },
      breaks("type: number → integer"),
      keeps("type: number → integer"),
    ],
    [{}, { type: "string" }, breaks("type: any → string"), mayBreak("type: any → string")],
    [{ type: "string" }, {}, keeps("type: string → any"), breaks("type: string → any")],
    [
      { enum: ["a", "b"] },
      { enum: ["b", "c", "d"] },
      [...keeps('now allows "c" and "d"'), ...breaks('no longer allows "a"')],
      [...breaks('now allows "c" and "d"'), ...mayBreak('no longer allows "a"')],
    ],
    [{ const: 1 }, { enum: [1, 2] }, keeps("now allows 2"), breaks("now allows 2")],
    [
      { type: "string" },
      { type: "string", enum: ["a"] },
      breaks('is now only "a"'),
      mayBreak('is now only "a"'),
    ],
    [
      { type: "string", enum: ["a", "b"] },
      { type: "string" },
      keeps('is no longer only "a" or "b"'),
      breaks('is no longer only "a" or "b"'),
    ],
    [{ maxLength: 5 }, { maxLength: 9 }, keeps("maxLength: 5 → 9"), mayBreak("maxLength: 5 → 9")],
    [{ maximum: 9 }, { maximum: 5 }, mayBreak("maximum: 9 → 5"), keeps("maximum: 9 → 5")],
    [{}, { minimum: 0 }, mayBreak("minimum: none → 0"), keeps("minimum: none → 0")],
    [{ minItems: 1 }, {}, keeps("minItems: 1 → none"), mayBreak("minItems: 1 → none")],
    [{ pattern: "a" }, { pattern: "b" }, mayBreak("pattern changed"), mayBreak("pattern changed")],
    [
      { type: "object" },
      { type: "object", additionalProperties: false },
      mayBreak("no longer allows other fields"),
      keeps("no longer allows other fields"),
    ],
    [
      { type: "object", additionalProperties: { type: "string" } },
      { type: "object", additionalProperties: { type: "boolean" } },
      breaks('"/*" type: string → boolean'),
      breaks('"/*" type: string → boolean'),
    ],
    [
      { not: { type: "string" } },
      { not: { type: "null" } },
      mayBreak("not changed"),
      mayBreak("not changed"),
    ],
  ];
  for (const [before, after, request, response] of cases) {
    expect([before, after, await schemaChanges(before, after)]).toEqual(
      [before, after, { request, response }],
    );
  }
});

Deno.test("describeChanges() looks into unions, references and recursion", async () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const components = {
    schemas: {
      A: { type: "object", properties: { a: { type: "string" }, next: ref("A") } },
      B: { type: "object", properties: { b: { type: "string" } } },
    },
  };
  const union = (...oneOf: unknown[]) => ({ oneOf });
  expect(await schemaChanges(union(ref("A")), union(ref("B"), ref("A")), components)).toEqual({
    request: keeps("now allows B"),
    response: breaks("now allows B"),
  });
  expect(await schemaChanges(ref("A"), union(ref("A"), { type: "null" }), components)).toEqual({
    request: keeps("now allows null"),
    response: breaks("now allows null"),
  });
  expect(
    await schemaChanges(
      union(ref("A"), { type: "null" }),
      union(ref("A"), { type: "string" }),
      components,
    ),
  ).toEqual({
    request: breaks("type: null → string"),
    response: breaks("type: null → string"),
  });
  expect(
    await schemaChanges({ allOf: [ref("B"), { required: ["b"] }] }, ref("B"), components),
  ).toEqual({
    request: keeps('"/b" is no longer required'),
    response: breaks('"/b" is no longer required'),
  });

  const contract = (type: string) =>
    contractOf(answering(union(ref("A"), ref("B")), {
      components: {
        schemas: {
          ...components.schemas,
          A: { type: "object", properties: { a: { type }, next: ref("A") } },
        },
      },
    }));
  const report = describeChanges(await contract("string"), await contract("boolean"));
  expect(report.split("\n").slice(2)).toEqual([
    '    response 200 "/a" type: string → boolean: breaks callers',
  ]);
});

Deno.test("describeChanges() mentions the header and the names of schemas once", async () => {
  const contract = (header: string, name: string) =>
    contractOf(answering({ $ref: `#/components/schemas/${name}` }, {
      components: {
        schemas: { [name]: { type: "string" } },
        securitySchemes: { Key: { type: "apiKey", in: "header", name: header } },
      },
    }));
  const report = describeChanges(await contract("X-A", "A"), await contract("X-B", "B"));
  expect(report.split("\n")).toEqual([
    "0 added, 0 removed, 0 changed; may break callers",
    "* API key header: X-A → X-B: does not break callers",
    "* schema A removed: may break callers",
  ]);
});
