import { expect } from "@std/expect";
import { documentOf, generated } from "./support.ts";

const operation = (id: string, rest = {}) => (
  { operationId: id, summary: id, responses: { 204: { description: "" } }, ...rest }
);
const key = (name: string) => ({ type: "apiKey", in: "header", name });

async function fieldsOf(field: "apiKey" | "has404" | "idempotent", paths: unknown, rest = {}) {
  const { operations } = await generated(documentOf(paths, { security: [], ...rest }));
  return Object.entries(operations).map(([name, operation]) => `${name}: ${operation[field]}`);
}

Deno.test("the table reads security at the root, per operation, optional and empty", async () => {
  const paths = {
    "/root": { get: operation("root") },
    "/own": { get: operation("own", { security: [{ Key: [] }] }) },
    "/none": { get: operation("none", { security: [] }) },
    "/optional": { get: operation("optional", { security: [{}, { Key: [] }] }) },
    "/nothing": { get: operation("nothing", { security: [{}] }) },
  };
  const components = { securitySchemes: { Key: key("X-Key") } };
  const rest = [
    "GET /own: required",
    "GET /none: none",
    "GET /optional: optional",
    "GET /nothing: none",
  ];
  expect(await fieldsOf("apiKey", paths, { components, security: [{ Key: [] }] })).toEqual(
    ["GET /root: required", ...rest],
  );
  expect(await fieldsOf("apiKey", paths, { components })).toEqual(["GET /root: none", ...rest]);
});

Deno.test("the table names the header of the scheme, used or not, or the service's own", async () => {
  const paths = { "/none": { get: operation("none") } };
  const header = async (securitySchemes: unknown) => {
    const rest = { security: [], components: { securitySchemes } };
    return (await generated(documentOf(paths, rest))).apiKeyHeader;
  };
  expect(await header({ Key: key("X-Later") })).toBe("X-Later");
  expect(await header({})).toBe("X-API-Key");
});

Deno.test("the table retries HTTP's idempotent methods, unless x-idempotent says otherwise", async () => {
  const methods = ["delete", "get", "head", "patch", "post", "put"];
  const paths = {
    "/value": Object.fromEntries(methods.map((method) => [method, operation(method)])),
    "/marked": {
      get: operation("never", { "x-idempotent": false }),
      post: operation("always", { "x-idempotent": true }),
    },
  };
  const repeated = (await fieldsOf("idempotent", paths)).filter((line) => line.endsWith(": true"));
  expect(repeated.map((line) => line.replace(": true", "")).sort()).toEqual(
    ["DELETE /value", "GET /value", "HEAD /value", "POST /marked", "PUT /value"],
  );
});

Deno.test("the table has a validator for each JSON success response, through references", async () => {
  const json = (schema: unknown) => ({ "application/json": { schema } });
  const text = { description: "", content: json({ type: "string" }) };
  const problem = { "application/problem+json; charset=utf-8": { schema: { type: "integer" } } };
  const either = { description: "", content: { ...problem, ...text.content } };
  const responses = {
    200: { $ref: "#/components/responses/Value" },
    201: { description: "", content: { "text/plain": {}, "text/csv": {} } },
    204: { description: "" },
    "2XX": { description: "", content: { "application/json": {} } },
    400: text,
    default: text,
  };
  const paths = {
    "/values": { post: operation("add", { responses }) },
    "/more": { $ref: "#/components/pathItems/More" },
  };
  const components = {
    schemas: { Value: { type: "string" } },
    responses: {
      Value: { description: "", content: json({ $ref: "#/components/schemas/Value" }) },
    },
    pathItems: { More: { get: operation("more", { responses: { 200: either } }) } },
  };
  const { operations } = await generated(documentOf(paths, { components, security: [] }));
  const { 200: value, "2XX": open, ...others } = operations["POST /values"]!.responses;
  expect(others).toEqual({ 201: undefined, 204: undefined }); // not checked as "2XX" is
  expect(Object.keys(others)).toEqual(["201", "204"]);
  expect([value?.("a"), value?.(1)]).toEqual([undefined, [{ path: "", rule: "type" }]]);
  expect([open?.("a"), open?.(null)]).toEqual([undefined, undefined]);
  const more = operations["GET /more"]!.responses["200"]!;
  const issues = [{ path: "", rule: "type" }];
  expect([more("a"), more(1), more(true)]).toEqual([undefined, undefined, issues]);
});

Deno.test("the table has no inherited names", async () => {
  const paths = { "/constructor": { get: operation("constructor") } };
  const { operations } = await generated(documentOf(paths, { security: [] }));
  expect(Object.keys(operations)).toEqual(["GET /constructor"]);
  expect([operations["constructor"], operations["toString"]]).toEqual([undefined, undefined]);
});

Deno.test("the table knows which operations have the status 404", async () => {
  const statuses = ["404", "4XX", "400", "default"];
  const paths = Object.fromEntries(statuses.map((status) => {
    const responses = { 204: { description: "" }, [status]: { description: "" } };
    return [`/${status}`, { get: operation(`get${status}`, { responses }) }];
  }));
  const lines = await fieldsOf("has404", paths);
  expect(lines.filter((line) => line.endsWith(": true")).sort())
    .toEqual(["GET /404: true", "GET /4XX: true"]);
});
