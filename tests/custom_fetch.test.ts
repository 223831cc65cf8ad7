// What a custom fetch may do: it stands for the network, and may be a mock or of a library.
import { expect } from "@std/expect";

import { ConfigurationError, createClient, NetworkError, RedirectError } from "../mod.ts";
import { createClientWith } from "../src/client.ts";
import { apiKey, baseUrl, sendAll, undocumented } from "./client.ts";
import { createClock } from "./clock.ts";
import { failures } from "./outcome.ts";
import { type AnyPath, checkKeyStatus, json, serve, validKey } from "./server.ts";
import { partialResponse, partialStream } from "./streams.ts";

/** Creates a client whose custom fetch resolves to any value, and counts its calls. */
function clientOf(respond: () => unknown) {
  const counted = { sent: 0 };
  const fetch = (() => {
    counted.sent++;
    return respond();
  }) as () => Promise<Response>;
  const client = createClientWith<AnyPath>({ baseUrl, apiKey, fetch }, createClock());
  return { client, counted };
}

/** What makes a response that is not a `Response` one that nobody has read. */
const unread = { bodyUsed: false, statusText: "" };

const strings = () => {
  const start = (controller: ReadableStreamDefaultController) => controller.enqueue("[1,2]");
  return Promise.resolve(new Response(new ReadableStream({ start })));
};
const brokenFetches: [string, () => unknown][] = [
  ["throws", () => JSON.parse("{")],
  ["rejects with nothing", () => Promise.reject()],
  ["resolves to Response.error()", () => Promise.resolve(Response.error())],
  ["resolves to a status that is none", () => Promise.resolve(partialResponse(700, null, unread))],
  ["resolves to a body of strings", strings],
];

for (const [kind, fetch] of brokenFetches) {
  Deno.test(`methods reject with a NetworkError after retries when a custom fetch ${kind}`, async () => {
    const { client, counted } = clientOf(fetch);
    await failures(NetworkError, sendAll(client));
    expect(counted.sent).toBe(9);
    client.use({ onRequest() {} });
    await failures(NetworkError, sendAll(client));
  });
}

const valid = () => Response.json(validKey, { status: checkKeyStatus });
const wrongFetches: [string, () => unknown][] = [
  ["nothing", () => undefined],
  ["a promise of null", () => Promise.resolve(null)],
  ["what a response contains", () => validKey],
  ["a response that was read", () => {
    const response = valid();
    return response.text().then(() => response);
  }],
  ["a response that is being read", () => {
    const response = valid();
    response.body!.getReader();
    return response;
  }],
];

for (const [kind, fetch] of wrongFetches) {
  Deno.test(`methods refuse a custom fetch that returns ${kind}, after one attempt`, async () => {
    const { client, counted } = clientOf(fetch);
    for (const { message, option } of await failures(ConfigurationError, sendAll(client))) {
      expect(message).toBe('"fetch" must return a Response whose body nobody has read');
      expect(option).toBe("fetch");
    }
    expect(counted.sent).toBe(3);
  });
}

Deno.test("methods refuse a Response that a custom fetch returns a second time", async () => {
  const response = valid();
  const { client } = clientOf(() => response);
  expect(await client.checkOwnKey()).toEqual(validKey);
  await failures(ConfigurationError, sendAll(client));
});

Deno.test("methods refuse a response that a custom fetch got by following a redirect", async () => {
  await using other = await serve((_, response) => json(response, validKey));
  await using server = await serve((_, response) => {
    response.writeHead(303, { location: other.url }).end();
  });
  const following = (request: Request) => fetch(new Request(request, { redirect: "follow" }));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey, fetch: following });
  for (const error of await failures(RedirectError, sendAll(client))) {
    expect(error.message).toMatch(/was redirected by "fetch", which must not follow redirects/);
    expect([error.status, error.location]).toEqual([checkKeyStatus, other.url]);
  }
  expect(server.requests.length).toBe(3);
});

Deno.test("createClient() looks up the global fetch for each call", async () => {
  const client = createClient({ baseUrl });
  const original = globalThis.fetch;
  try {
    globalThis.fetch = () => Promise.resolve(valid());
    expect(await client.checkKey("some-key")).toEqual(validKey);
  } finally {
    globalThis.fetch = original;
  }
});

// Responses of other classes

/** A body that is not a `ReadableStream`. */
function streamOf(...texts: string[]) {
  return partialStream(() => texts.length ? new TextEncoder().encode(texts.shift()) : undefined);
}

Deno.test("call() and GET() read a response of another realm", async () => {
  const responses = [
    () => partialResponse(200, streamOf("[", "1]"), unread),
    () => Object.defineProperty(new Response("[1]"), "url", { value: "https://a.example/" }),
  ];
  for (const respond of responses) {
    const { client } = clientOf(respond);
    expect(await client.call("GET", undocumented)).toEqual([1]);
    expect((await client.GET(`/${undocumented}`)).data).toEqual([1]);
  }
});

Deno.test("call() takes 204 as a success without content, also when it has a body", async () => {
  const { client } = clientOf(() => partialResponse(204, streamOf("[1]"), unread));
  expect(await client.call("GET", undocumented)).toBe(undefined);
  expect((await client.GET(`/${undocumented}`)).data).toBe(undefined);
});
