// What the generator accepts: sent, typed and checked as OpenAPI says.
import { expect } from "@std/expect";
import { copyProject } from "../../scripts/support/files.ts";
import { addOverlay } from "../overlay/add.ts";
import { deno, mustRun } from "../../scripts/support/process.ts";
import { keyHeader } from "../support/client.ts";
import { json, serve } from "../support/server.ts";

const consumer = `
import { type components, createClient, InvalidResponseError } from "./mod.ts";

const client = createClient({ baseUrl: Deno.args[0]!, apiKey: "key" });
const path = { id: 1, names: "a,b/c d" };
const outcomes: unknown[] = [];
const keep = async (call: () => Promise<unknown>) => {
  try {
    outcomes.push(await call());
  } catch (error) {
    if (!(error instanceof InvalidResponseError)) throw error;
    outcomes.push(error.issues);
  }
};
const get = () => client.GET("/fixture-values/{id}/{names}", {
  params: {
    path,
    query: { limit: 2, "tags[]": ["a&b", "é="], sort: "new" },
    header: { "X-Count": 7, "X-Flag": false },
  },
});
await keep(async () => {
  const { data } = await get();
  if (!data) return;
  const id: number = data.id;
  const name: string = data.name;
  const parent: string | undefined = data.parent?.parent?.name;
  const first: string | undefined = data.first?.name;
  const any: unknown = data.any?.["anything"];
  const count: number | undefined = data.counts?.["c"];
  const kind: "a" | number | undefined = data.kind;
  // @ts-expect-error only requests have it
  const secret = data.secret;
  return [id, name, parent, first, any, count, kind, secret];
});
await keep(get); // without what responses must have
await keep(get); // with a wrong value below
await keep(async () => void await get()); // nested too deep for any stack, also to be printed
await keep(async () => (await get()).error?.title);
await keep(async () => {
  const params = { path: { id: "1", names: "x" } } satisfies { path: { id: "1"; names: string } };
  const { data, response } = await client.HEAD("/fixture-values/{id}/{names}", { params });
  const none: undefined = data;
  return [none ?? null, response.status];
});
const params = { path: { id: "7", names: "x" } };
const headers = { "Content-Type": "application/merge-patch+json" };
for (const init of [{ params }, { params, body: { a: [1] } }, { params, body: { a: 1 }, headers }]) {
  await keep(async () => (await client.DELETE("/fixture-values/{id}/{names}", init)).response.status);
}
await keep(async () => {
  const body = { name: "n", secret: "s", parent: null, any: { b: 1 }, counts: { c: 1 } };
  const { data } = await client.POST("/fixture-values", { body });
  return typeof data === "object" ? data.name : data;
});
const add = async (): Promise<boolean | number | { name: string } | undefined> =>
  (await client.POST("/fixture-values", { body: { name: "n", secret: "s" } })).data;
await keep(add);
await keep(add);
await keep(async () => {
  const text: string | undefined =
    (await client.GET("/fixture-text/a~b:%20$&/", { parseAs: "text" })).data;
  return text;
});
console.log(JSON.stringify(outcomes));

export async function isRefused() {
  // @ts-expect-error the field is a number
  const event: components["schemas"]["FixtureEvent"] = { id: "1" };
  console.log(event);
  // @ts-expect-error the header is missing
  await client.GET("/fixture-values/{id}/{names}", { params: { path } });
  // @ts-expect-error the operation has a number in place of the path's string
  await client.GET("/fixture-values/{id}/{names}", { params: { ...params, header: { "X-Count": 1 } } });
  const header = { "X-Count": 1 };
  // @ts-expect-error the limit is 1 or 2
  await client.GET("/fixture-values/{id}/{names}", { params: { path, header, query: { limit: 3 } } });
  // @ts-expect-error only responses have an id
  await client.POST("/fixture-values", { body: { name: "n", secret: "s", id: 1 } });
  // @ts-expect-error the secret is missing
  await client.POST("/fixture-values", { body: { name: "n" } });
  // @ts-expect-error the body is missing
  await client.POST("/fixture-values");
}
`;

Deno.test("what is generated is sent, typed and checked as the document says", async () => {
  const files = ["deno.json", "deno.lock", "import_map.npm.json", "mod.ts"];
  await using project = await copyProject([...files, "openapi", "scripts", "src"]);
  await addOverlay(project);
  const options = { cwd: project.path };
  await mustRun(deno, ["task", "--quiet", "generate"], options);
  const types = await Deno.readTextFile(`${project.path}/src/generated/types.ts`);
  expect(types).toContain(`
    /**
     * What is not JSON.
     * @deprecated
     */
    get: operations["fixtureText"];`);
  // A text after the tag would be the reason.
  expect(types).toMatch(/\* Old\.\n *\*\n.* Leave it out\.\n *\* @deprecated\n *\*\/\n *"X-Flag"/);
  expect(types).toMatch(
    /\* Old\.\n *\* @format int32\n *\* @deprecated\n *\* @default 1\n *\* @example 2\n *\*\/\n *size/,
  );
  await project.write("consumer.ts", consumer);
  const flags = ["--quiet", "--import-map=import_map.npm.json"];
  await mustRun(deno, ["check", ...flags, "consumer.ts"], options);

  const feature = { id: 1, name: "n", first: { name: "f" }, any: { anything: 1 }, kind: "a" };
  const levels = 100_000;
  const deep = '{"id":1,"name":"n","parent":'.repeat(levels) + "null" + "}".repeat(levels);
  const responses: [unknown, number?][] = [
    [{ ...feature, parent: { ...feature, parent: { ...feature } }, counts: { c: 1 } }],
    [{ name: "n" }],
    [{ ...feature, parent: { ...feature, counts: { c: "1" } } }],
    [deep],
    [{ title: "t" }, 404],
    ...Array(4).fill([undefined, 204]),
    [feature, 201],
    [true, 207],
    ["no", 207],
    ["a,b"],
  ];
  await using server = await serve((_request, response, count) => {
    const [body, status = 200] = responses[count - 1]!;
    if (body === deep || status === 204) response.writeHead(status).end(body);
    else json(response, body, status);
  });
  const args = ["run", ...flags, "--no-check", "--allow-net=127.0.0.1", "consumer.ts", server.url];
  expect(JSON.parse(await mustRun(deno, args, options))).toEqual([
    [1, "n", "n", "f", 1, 1, "a", null],
    [{ path: "/id", rule: "required" }],
    [{ path: "/parent/counts/*", rule: "type" }],
    [{ path: "", rule: "depth" }],
    "t",
    [null, 204],
    204,
    204,
    204,
    "n",
    true,
    [{ path: "", rule: "type" }],
    '"a,b"',
  ]);
  const get = "GET /fixture-values/1/a%2Cb%2Fc%20d?limit=2&tags[]=a%26b&tags[]=%C3%A9%3D&sort=new ";
  const add = 'POST /fixture-values {"name":"n","secret":"s"}';
  expect(server.requests.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
    ...Array(5).fill(get),
    "HEAD /fixture-values/1/x ",
    "DELETE /fixture-values/7/x ",
    'DELETE /fixture-values/7/x {"a":[1]}',
    'DELETE /fixture-values/7/x {"a":1}',
    'POST /fixture-values {"name":"n","secret":"s","parent":null,"any":{"b":1},"counts":{"c":1}}',
    add,
    add,
    "GET /fixture-text/a~b:%20$&/ ",
  ]);
  for (const { headers } of server.requests) expect(headers[keyHeader]).toBe("key");
  expect(server.requests[0]!.headers).toMatchObject({ "x-count": "7", "x-flag": "false" });
  const sent = server.requests.slice(7, 9).map(({ headers }) => headers["content-type"]);
  expect(sent).toEqual(["application/json", "application/merge-patch+json"]);
});
