/** The clients that are measured, each called as its own documentation shows. */

/** Some client's module; the project depends on none of them, so their types are not known here. */
// deno-lint-ignore no-explicit-any
type Module = any;

export interface Client {
  readonly name: string;
  /** What is imported, in the folder that scripts/bench.ts prepares; `fetch` is the platform's. */
  readonly module?: string;
  /** The exports that a user needs; a bundler leaves out the rest. */
  readonly exports?: string;
  /** Returns a call of `checkKey`. `baseUrl` ends with a slash. */
  prepare(module: Module, baseUrl: string): () => Promise<Module>;
}

const apiKey = "demo-key";
const body = { apiKey };

const own: Client = {
  name: "@scam-address/client",
  module: "./scam-address.js",
  exports: "createClient",
  prepare({ createClient }, baseUrl) {
    const client = createClient({ baseUrl, apiKey });
    return () => client.checkOwnKey();
  },
};

export const clients: readonly Client[] = [
  {
    name: "fetch",
    prepare(_, baseUrl) {
      const headers = { "content-type": "application/json" };
      const init = () => ({ method: "POST", headers, body: JSON.stringify(body) });
      return async () => (await fetch(`${baseUrl}checkKey`, init())).json();
    },
  },
  own,
  {
    name: "openapi-fetch",
    module: "openapi-fetch",
    exports: "default",
    prepare({ default: createClient }, baseUrl) {
      const client = createClient({ baseUrl });
      return async () => (await client.POST("/checkKey", { body })).data;
    },
  },
  {
    name: "ofetch",
    module: "ofetch",
    exports: "ofetch",
    prepare({ ofetch }, baseURL) {
      const client = ofetch.create({ baseURL });
      return () => client("checkKey", { method: "POST", body });
    },
  },
  {
    name: "ky",
    module: "ky",
    exports: "default",
    prepare({ default: ky }, prefix) {
      const client = ky.create({ prefix });
      return () => client.post("checkKey", { json: body }).json();
    },
  },
  {
    name: "openai",
    module: "openai",
    exports: "default",
    prepare({ default: OpenAI }, baseURL) {
      const client = new OpenAI({ baseURL, apiKey });
      return () => client.post("/checkKey", { body });
    },
  },
  { ...own, name: "before", module: "./before.js" },
];
