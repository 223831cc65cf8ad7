/**
 * What is measured and probed: each client, called as its own documentation shows.
 *
 * `prepare` makes the call of `checkKey` that is measured; `open` makes a client with a key for
 * whatever call a probe needs.
 */

/** Some client's module; the project depends on none of them, so their types are not here. */
// deno-lint-ignore no-explicit-any
type Module = any;

/** What a probe asks for. All clients are given all of it: one that has no such option ignores it. */
export interface Options {
  readonly timeout?: number;
  readonly maxResponseBytes?: number;
  readonly fetch?: typeof fetch;
  /** Called with the headers of a request before it is sent. */
  readonly onRequest?: (headers: Headers) => void;
  readonly onDownloadProgress?: () => void;
  /** Called with the value of an answer; throws to refuse it. */
  readonly responseValidator?: (value: unknown) => Promise<void>;
}

/** A client that sends the key with every request. */
export interface Opened {
  /** Resolves to the value of the answer, or rejects with all that a caller is told of a failure. */
  send(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown>;
  /** Gives the body of the answer to a GET, in chunks. */
  stream(path: string): Promise<AsyncIterable<unknown>>;
  /** How long a request may take by default, where the client says so. */
  readonly timeout?: number;
}

export interface Client {
  readonly name: string;
  /** What is imported, in the folder that scripts/bench.ts prepares; the platform has fetch. */
  readonly module?: string;
  /** What of the module a user needs; the rest may be left out of a bundle. */
  readonly exports?: string;
  /** Makes the call ready. `baseUrl` ends with a slash. */
  prepare(module: Module, baseUrl: string): () => Promise<Module>;
}

/** A client of the comparison. */
export interface Peer extends Client {
  readonly module: string;
  /** Whether it comes as source code that a generator writes into the user's project. */
  readonly generated?: true;
  /** A TypeScript module that calls `checkKey` with a body; `types` holds openapi-typescript's. */
  typed(body: string, types: string): string;
  /** Makes a client. `baseUrl` ends with a slash. */
  open(module: Module, baseUrl: string, options?: Options): Opened;
}

export const apiKey = "demo-key";
const body = { apiKey };
const json = { "content-type": "application/json" };
const headers = { "X-API-Key": apiKey };
const address = '"https://service.example/checkKey"';

const bare: Client = {
  name: "fetch",
  prepare: (_, baseUrl) => async () => {
    const init = { method: "POST", headers: json, body: JSON.stringify(body) };
    return (await fetch(`${baseUrl}checkKey`, init)).json();
  },
};

/** All but the platform's own, this package first. */
export const peers: readonly Peer[] = [
  {
    name: "@scam-address/client",
    module: "./scam-address.js",
    exports: "createClient",
    prepare({ createClient }, baseUrl) {
      const client = createClient({ baseUrl, apiKey });
      return () => client.checkKey();
    },
    typed: (body) => `
      import { createClient } from "@scam-address/client";
      createClient({ baseUrl: "https://service.example/" }).POST("/checkKey", { body: ${body} });`,
    open({ createClient }, baseUrl, options = {}) {
      const client = createClient({ baseUrl, apiKey, ...options });
      const { onRequest } = options;
      if (onRequest) client.use({ onRequest: ({ request }: Module) => onRequest(request.headers) });
      return {
        send: (method, path, body) => client.call(method, path, { body }),
        stream: async (path) => (await client.GET(`/${path}`, { parseAs: "stream" })).data,
      };
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
    typed: (body, types) => `
      import createClient from "openapi-fetch";
      import type { paths } from "${types}";
      createClient<paths>().POST("/checkKey", { body: ${body} });`,
    open({ default: createClient }, baseUrl, options = {}) {
      const client = createClient({ baseUrl, headers, ...options });
      const { onRequest } = options;
      if (onRequest) client.use({ onRequest: ({ request }: Module) => onRequest(request.headers) });
      return {
        async send(method, path, body) {
          const result = await client[method](`/${path}`, { body });
          if (!result.response.ok) throw result;
          return result.data;
        },
        stream: async (path) => (await client.GET(`/${path}`, { parseAs: "stream" })).data,
      };
    },
  },
  {
    name: "@hey-api/openapi-ts",
    module: "./hey-api.js",
    exports: "checkKey, client",
    generated: true,
    prepare({ checkKey, client }, baseUrl) {
      client.setConfig({ baseUrl: baseUrl.slice(0, -1) });
      return async () => (await checkKey({ body })).data;
    },
    typed: (body) => `
      import { checkKey } from "./hey-api/sdk.gen.ts";
      checkKey({ body: ${body} });`,
    open({ createClient, createConfig, formDataBodySerializer }, baseUrl, options = {}) {
      const config = { baseUrl: baseUrl.slice(0, -1), headers, ...options };
      const client = createClient(createConfig(config));
      client.interceptors.request.use((request: Request) => {
        options.onRequest?.(request.headers);
        return request;
      });
      return {
        async send(method, path, body) {
          const form = body instanceof FormData && {
            ...formDataBodySerializer,
            body: Object.fromEntries(body),
            headers: { "Content-Type": null },
          };
          const result = await client.request({ method, url: `/${path}`, body, ...form });
          if ("error" in result) throw result;
          return result.data;
        },
        stream: async (path) => (await client.get({ url: `/${path}`, parseAs: "stream" })).data,
      };
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
    typed: (body) => `
      import { ofetch } from "ofetch";
      ofetch(${address}, { method: "POST", body: ${body} });`,
    open({ createFetch }, baseURL, { fetch, onRequest, ...options } = {}) {
      const client = createFetch({ fetch }).create({
        baseURL,
        headers,
        onRequest: ({ options }: Module) => onRequest?.(options.headers),
        ...options,
      });
      return {
        send: (method, path, body) => client(path, { method, body }),
        stream: (path) => client(path, { responseType: "stream" }),
      };
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
    typed: (body) => `
      import ky from "ky";
      ky.post(${address}, { json: ${body} }).json();`,
    open({ default: ky }, prefix, { onRequest, responseValidator, ...options } = {}) {
      const beforeRequest = [({ request }: Module) => onRequest?.(request.headers)];
      const client = ky.create({ prefix, headers, hooks: { beforeRequest }, ...options });
      const validate = async (value: unknown) => {
        await responseValidator!(value);
        return { value };
      };
      const schema = responseValidator && { "~standard": { version: 1, vendor: "", validate } };
      return {
        send(method, path, body) {
          const init = body instanceof FormData ? { body } : { json: body };
          return client(path, { method, ...init }).json(schema);
        },
        stream: async (path) => (await client(path)).body,
      };
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
    typed: (body) => `
      import axios from "axios";
      axios.post(${address}, ${body});`,
    open({ default: axios }, baseURL, { fetch, onRequest, maxResponseBytes, ...options } = {}) {
      const client = axios.create({
        baseURL,
        headers,
        maxContentLength: maxResponseBytes,
        ...fetch && { adapter: "fetch", env: { fetch, Request, Response } },
        ...options,
      });
      client.interceptors.request.use((config: Module) => {
        onRequest?.(config.headers);
        return config;
      });
      return {
        send: async (method, url, data) => (await client.request({ method, url, data })).data,
        stream: async (url) => (await client.get(url, { responseType: "stream" })).data,
        timeout: client.defaults.timeout,
      };
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
    typed: (body) => `
      import OpenAI from "openai";
      new OpenAI({ apiKey: "" }).post("/checkKey", { body: ${body} });`,
    open({ default: OpenAI }, baseURL, options = {}) {
      const client = new OpenAI({ baseURL, apiKey: "own", defaultHeaders: headers, ...options });
      return {
        send: (method, path, body) => client[method.toLowerCase()](`/${path}`, { body }),
        stream: async (path) => (await client.get(`/${path}`).asResponse()).body,
        timeout: client.timeout,
      };
    },
  },
];

export const clients: readonly Client[] = [bare, ...peers];
