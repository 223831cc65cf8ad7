/** The clients that are measured, each called as its own documentation shows. */

/** Some client's module; the project depends on none of them, so their types are not known here. */
// deno-lint-ignore no-explicit-any
type Module = any;

/** Who watches a call. */
export type Watcher = "nobody" | "middleware" | "a custom fetch";

export interface Client {
  /** What is imported, in the folder that scripts/bench.ts prepares; `fetch` is the platform's. */
  readonly module?: string;
  /** The exports that a user needs; a bundler leaves out the rest. */
  readonly exports?: string;
  /** Returns a call of `checkKey`, if the client has such watchers. `baseUrl` ends with a slash. */
  prepare(module: Module, baseUrl: string, watcher: Watcher): (() => Promise<Module>) | undefined;
}

const apiKey = "demo-key";
const body = { apiKey };
const middleware = { onRequest() {}, onResponse() {} };
const watch = (...args: Parameters<typeof fetch>) => fetch(...args);

/** The option of all these clients for a custom `fetch`. */
const option = (watcher: Watcher) => watcher === "a custom fetch" ? { fetch: watch } : {};

/** This package, bundled as a module. */
export const own = (module: string): Client => ({
  module,
  exports: "createClient",
  prepare({ createClient }, baseUrl, watcher) {
    const client = createClient({ baseUrl, apiKey, ...option(watcher) });
    if (watcher === "middleware") client.use(middleware);
    return () => client.checkOwnKey();
  },
});

export const clients: Readonly<Record<string, Client>> = {
  "fetch": {
    prepare(_, baseUrl, watcher) {
      const headers = { "content-type": "application/json" };
      const init = () => ({ method: "POST", headers, body: JSON.stringify(body) });
      const call = async () => (await fetch(`${baseUrl}checkKey`, init())).json();
      return watcher === "nobody" ? call : undefined;
    },
  },
  "@scam-address/client": own("./scam-address.js"),
  "openapi-fetch": {
    module: "openapi-fetch",
    exports: "default",
    prepare({ default: createClient }, baseUrl, watcher) {
      const client = createClient({ baseUrl, ...option(watcher) });
      if (watcher === "middleware") client.use(middleware);
      return async () => (await client.POST("/checkKey", { body })).data;
    },
  },
  "ky": {
    module: "ky",
    exports: "default",
    prepare({ default: ky }, prefix, watcher) {
      const hooks = { beforeRequest: [() => {}], afterResponse: [() => {}] };
      const watched = watcher === "middleware" && { hooks };
      const client = ky.create({ prefix, ...watched, ...option(watcher) });
      return () => client.post("checkKey", { json: body }).json();
    },
  },
  "openai": {
    module: "openai",
    exports: "default",
    prepare({ default: OpenAI }, baseURL, watcher) {
      const client = new OpenAI({ baseURL, apiKey, ...option(watcher) });
      return watcher === "middleware" ? undefined : () => client.post("/checkKey", { body });
    },
  },
};
