import { expect } from "@std/expect";

import { RedirectError } from "../mod.ts";
import { apiKey, checkKeyPath, sendAll, testBothWays, undocumented } from "./support/client.ts";
import { rejections } from "./support/rejection.ts";
import { json, serve, validKey } from "./support/server.ts";

testBothWays("methods refuse a redirect with any status, to any host", async (create) => {
  await using other = await serve((_, response) => json(response, validKey));
  const requestInitExt = { redirect: "follow" };
  let [status, location] = [0, ""];
  await using server = await serve(({ url }, response) => {
    if (url === "/target") return json(response, validKey);
    response.writeHead(status, { location, "retry-after": "0" }).end();
  });
  const client = create({ baseUrl: server.url, apiKey, requestInitExt });
  const hosts = [server.url, other.url.replace("127.0.0.1", "localhost")];
  for (status of [300, 301, 302, 303, 305, 307, 308, 399]) {
    for (const host of hosts) {
      location = `${host}target?a=b`;
      const calls = [
        ...sendAll(client),
        client.call("PUT", undocumented, { body: { a: 1 } }),
        client.POST(`/${undocumented}`, { body: {}, redirect: "follow" }),
      ];
      const problem =
        `got a redirect (${status}) to "${host}target", which is not followed: check "baseUrl"`;
      for (const error of await rejections(RedirectError, calls)) {
        expect(error.message.slice(error.message.indexOf("got"))).toBe(problem);
        expect([error.code, error.location]).toEqual(["redirect", location]);
      }
      expect(server.requests.splice(0).map(({ url }) => url).sort())
        .toEqual([...Array(4).fill(`/${undocumented}`), checkKeyPath].sort());
    }
  }
  expect(other.requests).toEqual([]);
});
