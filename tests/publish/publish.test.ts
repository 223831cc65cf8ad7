// What JSR receives, and which permissions it needs.
import { expect } from "@std/expect";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import denoJson from "../../deno.json" with { type: "json" };
import { listProject, makeFolder, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { serveValid } from "../support/server.ts";

const { name } = denoJson;

const publish = ["publish", "--dry-run", "--allow-dirty", "--no-lock"];
const { output } = await run(deno, publish, { cwd: root });
const documents = ["CHANGELOG.md", "LICENSE", "README.md", "RECIPES.md", "SECURITY.md"];
const published = [...output.matchAll(/(file:\S+) \([\d.]+\w+\)$/gm)]
  .map(([, url]) => url!.replace(`${pathToFileURL(root)}/`, ""));
Deno.test("JSR receives what users need, and nothing else: see `publish` in deno.json", async () => {
  const needed = [...documents, "deno.json", "mod.ts", "openapi/openapi.yaml"];
  expect(published.sort()).toEqual([...needed, ...await listProject("src")].sort());
});

/** A program that imports the package by name and calls a server. */
function program(baseUrl: string): string {
  return `
    import { createClient, type KeyStatus } from "${name}";
    import { createSandbox } from "${name}/sandbox";

    async function credits(client: ReturnType<typeof createClient>): Promise<number> {
      const status: KeyStatus = await client.checkKey("demo-key");
      return status.apiKeyValid ? status.data.credits : -1;
    }
    const { fetch } = createSandbox({ keys: { "demo-key": 7 } });
    console.log(await credits(createClient({ baseUrl: "https://service.example/", fetch })));
    const result = credits(createClient({ baseUrl: "${baseUrl}" }));
    console.log(await result.catch((error) => error.code));
  `;
}

Deno.test("importing the package needs no permission, a call only its host", async () => {
  await using server = await serveValid();
  await using folder = await makeFolder();
  const main = await folder.write("main.ts", program(server.url));
  const config = `--config=${join(root, "deno.json")}`;
  const runMain = (...permissions: string[]) =>
    mustRun(deno, ["run", "--no-prompt", "--no-lock", config, ...permissions, main]);
  expect(await runMain()).toBe("7\nnetwork\n");
  expect(server.requests.length).toBe(0);
  expect(await runMain(`--allow-net=${new URL(server.url).host}`)).toBe("7\n100\n");
});
