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

/** The options of a `fetch` of `checkKey`. */
function init(): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

/** The least work of a client with a time-out, refused redirects and a limited body. */
async function floor(url: string): Promise<unknown> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), 30_000);
  try {
    const { signal } = controller;
    const response = await fetch(url, { ...init(), redirect: "manual", signal });
    for (const name of ["content-type", "content-length", "retry-after"]) {
      response.headers.get(name);
    }
    return JSON.parse(new TextDecoder().decode(await response.arrayBuffer()));
  } finally {
    clearTimeout(timer);
  }
}

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
    prepare: (_, baseUrl) => async () => (await fetch(`${baseUrl}checkKey`, init())).json(),
  },
  {
    name: "floor",
    prepare: (_, baseUrl) => () => floor(`${baseUrl}checkKey`),
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
