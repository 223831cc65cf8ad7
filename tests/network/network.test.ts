// Certificates, as the fetch of Deno and Node.js sees them.
import { expect } from "@std/expect";
import { spawnSync } from "node:child_process";
import { createServer } from "node:https";

import { makeFolder } from "../../scripts/support/files.ts";
import { mustRun } from "../../scripts/support/process.ts";
import { skip } from "../../scripts/support/skip.ts";
import { bundle, play, runtimes } from "../process/support.ts";
import { listen, validKey } from "../server.ts";

/** Makes a certificate that is its own authority, for a host such as `IP:127.0.0.1`. */
async function issue(cwd: string, host: string): Promise<{ cert: string; key: string }> {
  const [key, cert] = ["key", "pem"].map((type) => `${cwd}/${crypto.randomUUID()}.${type}`);
  await mustRun("openssl", [
    ...["req", "-x509", "-config", "/dev/null", "-subj", `/CN=${crypto.randomUUID()}`],
    ...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-addext", `subjectAltName=${host}`, "-keyout", key!, "-out", cert!],
  ], { cwd });
  return { key: await Deno.readTextFile(key!), cert: await Deno.readTextFile(cert!) };
}

const ignore = spawnSync("openssl", ["version"]).status !== 0;
const why = ignore ? skip("no openssl in PATH to make certificates with") : "";

Deno.test({
  name: `a certificate that is refused is a NetworkError with the reason${why}`,
  ignore,
  async fn(test) {
    await using stack = new AsyncDisposableStack();
    const { path: folder } = stack.use(await makeFolder());
    const [unknown, elsewhere, own] = [
      await issue(folder, "IP:127.0.0.1"),
      await issue(folder, "DNS:service.example"),
      await issue(folder, "IP:127.0.0.1"),
    ];
    const file = `${folder}/trusted.pem`;
    await Deno.writeTextFile(file, elsewhere.cert + own.cert);
    const urls: string[] = [];
    // The trusted one is last: Deno resumes TLS sessions by the name of the server.
    for (const certificate of [unknown, elsewhere, own]) {
      const server = createServer(certificate, (_, response) => {
        response.end(JSON.stringify(validKey));
      });
      urls.push(stack.use(await listen(server, "https")).url);
    }
    const reasons = [
      /^"[A-Z]+ https:\/\/\S+" got no response: .*(UnknownIssuer|self-signed certificate)/,
      /^"[A-Z]+ https:\/\/\S+" got no response: .*(not valid for name|certificate's altnames)/,
      /^ok$/,
    ].flatMap((reason) => Array(3).fill(reason));
    const program = stack.use(await bundle("tests/network/child.ts"));
    const env = { DENO_CERT: file, NODE_EXTRA_CA_CERTS: file };
    for (const runtime of runtimes) {
      await test.step(runtime.name, async () => {
        const outcomes = await play(runtime, program.path, urls, { timeout: 40_000, env });
        expect(outcomes).toEqual(reasons.map((reason) => expect.stringMatching(reason)));
      });
    }
  },
});
