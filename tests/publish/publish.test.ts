// What JSR receives, and what a user of Deno gets from there.
import { expect } from "@std/expect";
import { join } from "node:path";
import denoJson from "../../deno.json" with { type: "json" };
import { listProject, makeFolder, read, root } from "../../scripts/support/files.ts";
import { deno, mustRun, run } from "../../scripts/support/process.ts";
import { json, serve, validKey } from "../support/server.ts";
import { serveRegistry } from "./registry.ts";

const { name, version } = denoJson;

/** What users need, and nothing else. */
async function expectedFiles(): Promise<string[]> {
  const sources = await listProject("src");
  return [
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "RECIPES.md",
    "deno.json",
    "mod.ts",
    "openapi/openapi.yaml",
    ...sources,
  ].sort();
}

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
    const onRetry = () => console.log("retried");
    const result = credits(createClient({ baseUrl: "${baseUrl}", onRetry }));
    console.log(await result.catch((error) => error.code));
  `;
}

Deno.test("importing the package needs no permission, a call only its host, whose lack is not retried", async () => {
  await using server = await serve((_, response) => json(response, validKey));
  await using folder = await makeFolder();
  const main = await folder.write("main.ts", program(server.url));
  const config = `--config=${join(root, "deno.json")}`;
  const runMain = (...permissions: string[]) =>
    mustRun(deno, ["run", "--no-prompt", "--no-lock", config, ...permissions, main]);
  expect(await runMain()).toBe("7\nnetwork\n");
  expect(server.requests.length).toBe(0);
  expect(await runMain(`--allow-net=${new URL(server.url).host}`)).toBe("7\n100\n");
});

Deno.test("the package is published to JSR, added to an empty project and used there", async () => {
  await using packages = await makeFolder();
  await using cache = await makeFolder();
  await using project = await makeFolder();
  await using server = await serve((_, response) => json(response, validKey));
  await using registry = serveRegistry(packages.path);
  const lock = await read("deno.lock");
  const env = { JSR_URL: registry.url };
  const publish = ["publish", "--token=none", "--allow-dirty", "--no-provenance", "--no-lock"];
  await mustRun(deno, publish, { cwd: root, env });
  expect(await registry.files(name, version)).toEqual(await expectedFiles());
  expect(await read("deno.lock")).toBe(lock);

  const options = { cwd: project.path, env: { ...env, DENO_DIR: cache.path } };
  await mustRun(deno, ["add", `jsr:${name}`], options);
  const { imports } = JSON.parse(await Deno.readTextFile(join(project.path, "deno.json")));
  expect(imports).toEqual({ [name]: `jsr:${name}@^${version}` });
  await project.write("main.ts", program(server.url));
  const permission = `--allow-net=${new URL(server.url).host}`;
  expect(
    await mustRun(deno, ["run", "--check", "--no-prompt", permission, "main.ts"], options),
  ).toBe("7\n100\n");

  await project.write(
    "wrong.ts",
    `import { createClient } from "${name}"; createClient({ baseUrl: 1 });`,
  );
  const wrong = await run(deno, ["check", "wrong.ts"], options);
  expect([wrong.success, wrong.output]).toEqual([false, expect.stringContaining("TS2322")]);

  const command = ["run", "--allow-env", `jsr:${name}/cli`, "check-key", "--sandbox", "--json"];
  expect(JSON.parse(await mustRun(deno, command, options))).toMatchObject({ ok: true });
});
