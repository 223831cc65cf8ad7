// Which path parameters the typed methods take; origin.test.ts has paths that lead elsewhere.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { apiKey, baseUrl, checkKeyPath, undocumented, unsent } from "./support/client.ts";
import { rejection, rejections } from "./support/rejection.ts";
import { type AnyPath, json, serve } from "./support/server.ts";

Deno.test("methods refuse a path parameter that is missing, empty or leads elsewhere", async () => {
  const missing = [undefined, {}, { params: {} }, { params: { path: {} } }];
  const empty = [undefined, null, "", [], {}, [""], [[]], { a: "" }];
  const elsewhere = ["..", ".", "..;", "..;a=b", "a\\b", "../a", "\0"];
  const withId = (id: unknown) => ({ params: { path: { id } } });
  /** Asserts that options are refused with a message. */
  const expectRefused = async (init: unknown, expected: RegExp) => {
    for (const path of ["/things/{id}", "/things/{id*}/x"]) {
      const error = await rejection(ConfigurationError, unsent.GET(path, init as never));
      expect(error.message).toMatch(expected);
      expect(error.option).toBe("params.path");
    }
  };
  const others = [null, "", []].map((value) => ({ params: { path: { id: 1, other: value } } }));
  for (const init of [...missing, ...empty.map(withId)]) {
    await expectRefused(init, /must have a value that is not empty for "(id|\{id\*?\})"$/);
  }
  for (const init of others) await expectRefused(init, /that is not empty for "other"$/);
  for (const name of ["toString", "constructor", "__proto__"]) {
    const call = unsent.GET(`/t/{${name}}`, { params: { path: {} } });
    expect((await rejection(ConfigurationError, call)).option).toBe("params.path");
  }
  for (const id of elsewhere) {
    await expectRefused(withId(id), /must be without a segment "\." or "\.\.", a backslash/);
  }
  const raw = (_: string, { id }: Record<string, unknown>) => `${baseUrl}${id}`;
  for (const id of [[], "{S3CRET"]) { // also as the caller's own serializer writes it
    const init = { params: { path: { id } }, pathSerializer: raw };
    const { message } = await rejection(ConfigurationError, unsent.GET("/things/{id}", init));
    expect(message).toMatch(/not empty for "(id|\{)"$/);
  }
  const pathSerializer = () => "https://other.example/../a";
  const init = { params: { path: { id: 1 } }, pathSerializer };
  const calls = [
    unsent.GET("/things/{id}", init),
    unsent.POST(checkKeyPath, { ...init, body: { apiKey } }),
  ];
  for (const error of await rejections(ConfigurationError, calls)) {
    expect(error.option).toBe("params.path");
  }
});

Deno.test("methods write path parameters that have a value", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  for (const id of [0, false, "x", ["x"], { a: 1 }, "a/b", "a..b"]) {
    await client.GET("/things/{id}", { params: { path: { id } } });
  }
  const pathSerializer = (path: string) => path.replace("{id}", "own");
  await client.GET("/things/{id}", { pathSerializer, params: { path: {} } });
  await client.GET("/things/x?of=/../a");
  expect(server.requests.map(({ url }) => url.replace("/things/", "")))
    .toEqual(["0", "false", "x", "x", "a,1", "a%2Fb", "a..b", "own", "x?of=/../a"]);
});

Deno.test("methods refuse a path that leads elsewhere when a URL parser has trimmed its end", async () => {
  for (const space of [" ", "  ", "\t", "\n", "\r\n", "\0", "\x1f ", " \x01"]) {
    for (const path of [`/..${space}`, `/.${space}`, `/a/..${space}`, `/%2e%2E${space}`]) {
      const error = await rejection(ConfigurationError, unsent.GET(path));
      expect(error.option).toBe("path");
    }
  }
  const pathSerializer = () => `${baseUrl}.. `;
  const init = { params: { path: { id: 1 } }, pathSerializer };
  expect(await rejection(ConfigurationError, unsent.GET("/{id}", init)))
    .toMatchObject({ option: "params.path" });
});

Deno.test("call() does not use the client's pathSerializer", async () => {
  const urls: string[] = [];
  const fetch = ({ url }: Request) => (urls.push(url), Promise.resolve(Response.json(1)));
  const pathSerializer = () => `${baseUrl}other`;
  await createClient({ baseUrl, apiKey, fetch, pathSerializer }).call("GET", undocumented);
  expect(urls).toEqual([baseUrl + undocumented]);
});
