// Which path parameters the typed methods take; origin.test.ts has paths that lead elsewhere.
import { expect } from "@std/expect";

import { ConfigurationError, createClient } from "../mod.ts";
import { apiKey, baseUrl, undocumented, unsent } from "./support/client.ts";
import { rejection } from "./support/rejection.ts";
import { type AnyPath, json, serve } from "./support/server.ts";

Deno.test("methods refuse a path parameter that is missing, empty or leads elsewhere", async () => {
  const values = [undefined, null, "", [], [""], "..", ".", "../a", "..;a=b", "..\\a"];
  const inits = [undefined, {}, { params: {} }].concat(
    values.map((value) => ({ params: { path: { id: value, "user-id": value } } })),
  );
  for (const init of inits) {
    for (
      const [path, name] of [["/a/{id}", "id"], ["/a/{id*}/x", "id"], ["/{user-id}", "user-id"]]
    ) {
      const error = await rejection(ConfigurationError, unsent.GET(path!, init as never));
      expect(error.message).toBe(
        `"params.path" must have a value for "${name}", without "." or ".."`,
      );
      expect(error.option).toBe("params.path");
    }
  }
});

Deno.test("methods write path parameters that have a value", async () => {
  await using server = await serve((_, response) => json(response, 1));
  const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
  for (const id of [0, false, "x", ["x"], { a: 1 }, "a/b", "a..b"]) {
    await client.GET("/things/{id}", { params: { path: { id } } });
  }
  const pathSerializer = (path: string) => path.replace("{id}", "own");
  await client.GET("/things/{id}", { pathSerializer, params: { path: { id: 1 } } });
  await client.GET("/things/x?of=/../a");
  expect(server.requests.map(({ url }) => url.replace("/things/", "")))
    .toEqual(["0", "false", "x", "x", "a,1", "a%2Fb", "a..b", "own", "x?of=/../a"]);
});

Deno.test("call() does not use the client's pathSerializer", async () => {
  const urls: string[] = [];
  const fetch = ({ url }: Request) => (urls.push(url), Promise.resolve(Response.json(1)));
  const pathSerializer = () => `${baseUrl}other`;
  await createClient({ baseUrl, apiKey, fetch, pathSerializer }).call("GET", undocumented);
  expect(urls).toEqual([baseUrl + undocumented]);
});
