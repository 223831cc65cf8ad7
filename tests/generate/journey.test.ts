import { expect } from "@std/expect";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { json, serve } from "../server.ts";
import { deno, type Finished, folder } from "./support.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What a maintainer adds to `paths`. */
const operations = `
  /journey-reports/{id}:
    get:
      operationId: getJourneyReport
      summary: A report.
      parameters:
        - { in: path, name: id, required: true, schema: { type: string } }
        - { in: query, name: page, schema: { type: integer } }
      responses:
        "200":
          description: The report.
          content:
            application/json:
              schema: { $ref: "#/components/schemas/JourneyReport" }
  /journey-reports:
    post:
      operationId: addJourneyReport
      summary: Adds a report.
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: "#/components/schemas/JourneyReport" }
      responses:
        "201":
          description: The report.
          content:
            application/json:
              schema: { $ref: "#/components/schemas/JourneyReport" }
`;

/** What they add to the schemas. */
const schemas = `
    JourneyReport:
      type: object
      required: [address]
      properties:
        address: { type: string }
        score: { type: integer }
`;

const consumer = `
import { createClient, InvalidResponseError, ScamAddressError } from "./mod.ts";

const client = createClient({ baseUrl: Deno.args[0]!, apiKey: "key", retries: 1 });
const outcomes: unknown[] = [];
const keep = async (call: () => Promise<unknown>) => {
  try {
    outcomes.push(await call());
  } catch (error) {
    if (!(error instanceof ScamAddressError)) throw error;
    outcomes.push({ code: error.code, issues: error instanceof InvalidResponseError && error.issues });
  }
};
await keep(async () => {
  const { data } = await client.GET("/journey-reports/{id}", { params: { path: { id: "a/b" }, query: { page: 2 } } });
  const address: string | undefined = data?.address;
  return address;
});
await keep(async () => {
  const { data } = await client.POST("/journey-reports", { body: { address: "x", score: 1 } });
  const score: number | undefined = data?.score;
  return score;
});
console.log(JSON.stringify(outcomes));
`;

const wrong = `
import { createClient } from "./mod.ts";
const client = createClient({ baseUrl: "https://service.example/", apiKey: "key" });
// @ts-expect-error the path parameter is missing
client.GET("/journey-reports/{id}");
// @ts-expect-error the page is a number
client.GET("/journey-reports/{id}", { params: { path: { id: "a" }, query: { page: "2" } } });
// @ts-expect-error the address is missing
client.POST("/journey-reports", { body: { score: 1 } });
// @ts-expect-error there is no such path
client.GET("/report");
`;

Deno.test("an operation added to the description is typed, authenticated, retried and checked", async () => {
  await using files = await folder();
  const project = files.path;
  const parts = ["deno.json", "deno.lock", "import_map.npm.json", "mod.ts"];
  for (const name of [...parts, "openapi", "scripts", "src"]) {
    await cp(join(root, name), join(project, name), { recursive: true });
  }
  const spec = join(project, "openapi", "openapi.yaml");
  const edit = async (...changes: [from: string, to: string][]) => {
    let text = await readFile(spec, "utf8");
    for (const [from, to] of changes) {
      expect(text).toContain(from);
      text = text.replace(from, () => to);
    }
    await writeFile(spec, text);
  };
  const regenerate = async (): Promise<Finished> => {
    const finished = await deno(["task", "--quiet", "generate"], project);
    expect([finished.code, finished.stderr]).toEqual([0, ""]);
    return finished;
  };
  const map = "--import-map=import_map.npm.json";

  await edit(["\npaths:\n", `\npaths:${operations}`], ["\n  schemas:\n", `\n  schemas:${schemas}`]);
  expect((await regenerate()).stdout).toContain(
    "2 added, 0 removed, 0 changed; does not break callers\n" +
      "+ getJourneyReport (GET /journey-reports/{id})\n" +
      "+ addJourneyReport (POST /journey-reports)\n",
  );
  await files.write("consumer.ts", consumer);
  await files.write("wrong.ts", wrong);
  const checked = await deno(["check", "--quiet", map, "consumer.ts", "wrong.ts"], project);
  expect(checked).toEqual({ code: 0, stdout: "", stderr: "" });

  let answers: unknown[] = [];
  await using server = await serve((_request, response, count) => {
    const answer = answers[count - 1];
    if (answer === 503) json(response, {}, 503);
    else json(response, answer, answer ? 200 : 500);
  });
  const consume = async (...next: unknown[]): Promise<unknown[]> => {
    answers = [...server.requests.map(() => undefined), ...next];
    const { code, stdout, stderr } = await deno(
      ["run", "--quiet", "--no-check", map, "--allow-net=127.0.0.1", "consumer.ts", server.url],
      project,
    );
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  };
  const sent = () =>
    server.requests.splice(0).map(({ method, url, headers, body }) => ({
      request: `${method} ${url}`,
      key: headers["x-api-key"],
      other: headers["x-other-key"],
      body,
    }));

  const report = { address: "x", score: 1 };
  expect(await consume(report, report)).toEqual(["x", 1]);
  expect(sent()).toEqual([
    { request: "GET /journey-reports/a%2Fb?page=2", key: "key", other: undefined, body: "" },
    {
      request: "POST /journey-reports",
      key: "key",
      other: undefined,
      body: JSON.stringify(report),
    },
  ]);

  // A wrong answer names the field. A GET is repeated after a failure, a POST is not.
  expect(await consume(503, { address: 1 }, 503)).toEqual([
    { code: "invalid_response", issues: [{ path: "/address", rule: "type" }] },
    null,
  ]);
  expect(sent().map(({ request }) => request)).toEqual([
    "GET /journey-reports/a%2Fb?page=2",
    "GET /journey-reports/a%2Fb?page=2",
    "POST /journey-reports",
  ]);

  // Another header, and the POST without a key and safe to repeat: regenerating is all it takes.
  await edit(
    ["name: X-API-Key", "name: X-Other-Key"],
    [
      "operationId: addJourneyReport",
      "operationId: addJourneyReport\n      security: []\n      x-idempotent: true",
    ],
  );
  expect((await regenerate()).stdout).toContain(
    "0 added, 0 removed, 1 changed; does not break callers\n" +
      "* API key header: X-API-Key → X-Other-Key: does not break callers\n" +
      "~ addJourneyReport (POST /journey-reports)\n" +
      "    security: key required → no key: does not break callers\n" +
      "    repeated after a failure: no → yes: does not break callers\n",
  );
  expect(await consume(report, 503, report)).toEqual(["x", 1]);
  expect(sent().map(({ request, key, other }) => [request, key, other])).toEqual([
    ["GET /journey-reports/a%2Fb?page=2", undefined, "key"],
    ["POST /journey-reports", undefined, undefined],
    ["POST /journey-reports", undefined, undefined],
  ]);
});
