import { join } from "node:path";
import { listFiles } from "../../scripts/support/files.ts";

/** A registry that speaks the part of JSR's protocol that publishing, adding and importing need. */
export interface Registry extends AsyncDisposable {
  /** Its address with a final slash, the form that `JSR_URL` takes. */
  url: string;
  /** The paths of a published package's files, sorted. */
  files(name: string, version: string): Promise<string[]>;
}

async function unpack(tarball: ReadableStream<Uint8Array>, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const tar = new Deno.Command("tar", { args: ["-xzf", "-", "-C", folder], stdin: "piped" })
    .spawn();
  await tarball.pipeTo(tar.stdin);
  if (!(await tar.status).success) throw new Error("The upload is not a gzipped tarball");
}

/** The metadata of a version: its entry points, and a checksum of each file. */
async function versionMeta(folder: string): Promise<unknown> {
  const { exports } = JSON.parse(await Deno.readTextFile(join(folder, "deno.json")));
  const manifest: Record<string, { size: number; checksum: string }> = {};
  for (const path of await listFiles(folder)) {
    const bytes = await Deno.readFile(join(folder, path));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    manifest[`/${path}`] = { size: bytes.length, checksum: `sha256-${digest.toHex()}` };
  }
  return { exports, manifest };
}

const VERSION = /^\/api\/scopes\/([^/]+)\/packages\/([^/]+)\/versions\/([^/]+)$/;
const FILE = /^\/(@[^/]+\/[^/]+)\/([^/]+)$/;

/**
 * Starts a registry on an ephemeral port of the loopback interface.
 *
 * @param folder An existing folder, in which it keeps `@scope/name/version/`.
 */
export function serveRegistry(folder: string): Registry {
  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, scope, name, version] = pathname.match(VERSION) ?? [];
    if (version) {
      const place = join(folder, `@${scope}`, name!, version);
      if (request.method === "POST") await unpack(request.body!, place);
      await Deno.stat(place);
      return Response.json({ id: crypto.randomUUID(), status: "success", error: null });
    }
    if (pathname.startsWith("/api/")) return Response.json({}); // the scope and package exist
    const [, id, file] = pathname.match(FILE) ?? [];
    if (file === "meta.json") {
      const versions: Record<string, object> = {};
      for await (const { name } of Deno.readDir(join(folder, id!))) versions[name] = {};
      return Response.json({ versions });
    }
    if (file?.endsWith("_meta.json")) {
      return Response.json(await versionMeta(join(folder, id!, file.replace("_meta.json", ""))));
    }
    const type = pathname.endsWith(".ts") ? "text/typescript" : "text/plain";
    const body = await Deno.readFile(join(folder, pathname));
    return new Response(body, { headers: { "content-type": type } });
  }

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    try {
      return await respond(request);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return Response.json({ code: "notFound", message: "Not found" }, { status: 404 });
    }
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    files: (name, version) => listFiles(join(folder, name, version)),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
