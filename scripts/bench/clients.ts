/** What is measured: one call of `checkKey`, made by each client as its own documentation shows. */

/** Some client's module; the project depends on none of them, so their types are not here. */
// deno-lint-ignore no-explicit-any
type Module = any;

export interface Client {
  readonly name: string;
  /** What is imported, in the folder that scripts/bench.ts prepares; the platform has fetch. */
  readonly module?: string;
  /** What of the module a user needs; the rest may be left out of a bundle. */
  readonly exports?: string;
  /** Makes the call ready. `baseUrl` ends with a slash. */
  prepare(module: Module, baseUrl: string): () => Promise<Module>;
}

const apiKey = "demo-key";
const body = { apiKey };
const json = { "content-type": "application/json" };

export const clients: readonly Client[] = [
  {
    name: "fetch",
    prepare: (_, baseUrl) => async () => {
      const init = { method: "POST", headers: json, body: JSON.stringify(body) };
      return (await fetch(`${baseUrl}checkKey`, init)).json();
    },
  },
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
    name: "@scam-address/client",
    module: "./scam-address.js",
    exports: "createClient",
    prepare({ createClient }, baseUrl) {
      const client = createClient({ baseUrl, apiKey });
      return () => client.checkKey();
    },
  },
  {
    name: "@hey-api/openapi-ts",
    module: "./hey-api.js",
    exports: "checkKey, client",
    prepare({ checkKey, client }, baseUrl) {
      client.setConfig({ baseUrl: baseUrl.slice(0, -1) });
      return async () => (await checkKey({ body })).data;
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
    name: "axios",
    module: "axios",
    exports: "default",
    prepare({ default: axios }, baseURL) {
      const client = axios.create({ baseURL });
      return async () => (await client.post("checkKey", body)).data;
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
];
