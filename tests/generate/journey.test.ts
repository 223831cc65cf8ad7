import { expect } from "@std/expect";
import { keyHeader } from "../client.ts";
import { json, serve } from "../server.ts";
import { addExample, addSecondExample, copyProject, deno, folder, renamed } from "./support.ts";

const consumer = `
import { createClient, InvalidResponseError, ScamAddressError } from "./mod.ts";

const client = createClient({ baseUrl: Deno.args[0]!, apiKey: "key", retries: 1 });
const outcomes: unknown[] = [];
const keep = async (call: () => Promise<unknown>) => {
  try {
    outcomes.push(await call());
  } catch (error) {
    if (!(error instanceof ScamAddressError)) throw error;
    outcomes.push(error instanceof InvalidResponseError ? error.issues : error.code);
  }
};
await keep(async () => {
  const { data } = await client.GET("/journey-reports/{id}", { params: { path: { id: 7 } } });
  const address: string | undefined = data?.address;
  return address;
});
await keep(async () => {
  const { data } = await client.POST("/journey-reports", { body: { address: "x", limit: 1 } });
  const addresses: (string | undefined)[] | undefined = data?.map(({ address }) => address);
  return addresses;
});
console.log(JSON.stringify(outcomes));

export async function isRefused() {
  // @ts-expect-error the path parameter is missing
  await client.GET("/journey-reports/{id}");
  // @ts-expect-error the number is not a string
  await client.GET("/journey-reports/{id}", { params: { path: { id: "7" } } });
  // @ts-expect-error the address is missing
  await client.POST("/journey-reports", { body: { limit: 1 } });
  // @ts-expect-error there is no such path
  await client.GET("/journey-report");
}
`;

Deno.test("an operation added to the document is typed, authenticated, retried and checked", async () => {
  await using project = await folder();
  await copyProject(project.path, [
    ...["deno.json", "deno.lock", "import_map.npm.json", "mod.ts", "openapi", "scripts", "src"],
  ]);
  await addExample(project.path, renamed("Journey"));
  await addSecondExample(project.path, renamed("Journey"));
  expect(await deno(["task", "--quiet", "generate"], project.path)).toEqual({
    code: 0,
    stdout: "Wrote types.ts, operations.ts, validators.ts in src/generated\n",
    stderr: "",
  });
  await project.write("consumer.ts", consumer);
  const run = ["run", "--quiet", "--import-map=import_map.npm.json", "--allow-net=127.0.0.1"];
  expect(await deno(["check", ...run.slice(1, 3), "consumer.ts"], project.path)).toMatchObject({
    code: 0,
  });

  let responses: unknown[] = [];
  await using server = await serve((_request, response, count) => {
    const body = responses[count - 1];
    json(response, body, body === 503 ? 503 : 200);
  });
  const consume = async (...next: unknown[]) => {
    const before = server.requests.length;
    responses = [...Array(before), ...next];
    const { code, stdout, stderr } = await deno(
      [...run, "--no-check", "consumer.ts", server.url],
      project.path,
    );
    expect([code, stderr]).toEqual([0, ""]);
    const sent = server.requests.slice(before).map(({ method, url, headers }) =>
      `${method} ${url} ${headers[keyHeader]}`
    );
    return { outcomes: JSON.parse(stdout), sent };
  };

  expect(await consume({ address: "x" }, [{ address: "x" }])).toEqual({
    outcomes: ["x", ["x"]],
    sent: ["GET /journey-reports/7 key", "POST /journey-reports undefined"],
  });
  // A GET is repeated after a failure, a POST is not; what is wrong with a response has its place.
  expect(await consume(503, { address: 1 }, [{ address: "x" }, {}])).toEqual({
    outcomes: [[{ path: "/address", rule: "type" }], [{ path: "/1/address", rule: "required" }]],
    sent: [
      "GET /journey-reports/7 key",
      "GET /journey-reports/7 key",
      "POST /journey-reports undefined",
    ],
  });
});
