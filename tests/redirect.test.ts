import { expect } from "@std/expect";

import { createClient, RedirectError } from "../mod.ts";
import { apiKey, baseUrl, keyHeader, sendAll } from "./client.ts";
import { failure, failures } from "./outcome.ts";
import { type AnyPath, json, serve, validKey } from "./server.ts";
import { endlessBody } from "./streams.ts";

for (const status of [300, 301, 302, 303, 304, 305, 307, 308, 399]) {
  for (const host of ["the same", "another"]) {
    Deno.test(`methods refuse a redirect with ${status} to ${host} host`, async () => {
      await using other = await serve((_, response) => json(response, validKey));
      let location = "";
      await using server = await serve(({ url }, response) => {
        if (url === "/target") return json(response, validKey);
        response.writeHead(status, { location, "retry-after": "0" }).end();
      });
      location = host === "another"
        ? `${other.url.replace("127.0.0.1", "localhost")}target`
        : `${server.url}target`;
      const client = createClient<AnyPath>({ baseUrl: server.url, apiKey });
      const calls = [
        client.call("GET", "report"),
        client.call("PUT", "report", { body: { a: 1 } }),
        client.checkKey(),
        client.GET("/report"),
        client.POST("/report", { body: {}, redirect: "follow" }),
      ];
      for (const error of await failures(RedirectError, calls)) {
        expect(error.code).toBe("redirect");
        expect(error.status).toBe(status);
        expect(error.location).toBe(location);
      }
      expect(server.requests.length).toBe(calls.length);
      expect(server.requests.filter(({ url }) => url === "/target")).toEqual([]);
      expect(other.requests).toEqual([]);
    });
  }
}

Deno.test("call() refuses a redirect without a location", async () => {
  await using server = await serve((_, response) => void response.writeHead(302).end());
  const client = createClient({ baseUrl: server.url, apiKey });
  const error = await failure(RedirectError, client.call("GET", "report"));
  expect("location" in error).toBe(false);
});

Deno.test("methods cancel the body of a redirect that they refuse", async () => {
  const bodies = Array.from({ length: 3 }, () => endlessBody(new Uint8Array(1), 5));
  let sent = 0;
  const fetch = () => {
    const { body } = bodies[sent++]!;
    return Promise.resolve(new Response(body, { status: 302, headers: { location: "/" } }));
  };
  const client = createClient<AnyPath>({ baseUrl, apiKey, fetch });
  await failures(RedirectError, sendAll(client));
  await Promise.all(bodies.map(({ cancelled }) => cancelled));
});

Deno.test("call() refuses an opaque redirect, as browsers return it", async () => {
  const response = Object.defineProperties(new Response(null), {
    type: { value: "opaqueredirect" },
    status: { value: 0 },
    ok: { value: false },
  });
  let sent = 0;
  const fetch = (request: Request) => {
    sent++;
    expect(request.redirect).toBe("manual");
    return Promise.resolve(response);
  };
  const client = createClient({ baseUrl, apiKey, fetch });
  const error = await failure(RedirectError, client.call("GET", "report"));
  expect(error.status).toBe(0);
  expect("location" in error).toBe(false);
  expect(sent).toBe(1);
});

Deno.test("requestInitExt overrides neither the method, the headers nor the handling of redirects", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(307, { location: "/target" }).end();
  });
  const requestInitExt = { redirect: "follow", method: "DELETE", headers: {} };
  const client = createClient({ baseUrl: server.url, apiKey: "some-key", requestInitExt });
  expect(await client.call("GET", "report").catch((error) => error)).toBeInstanceOf(RedirectError);
  expect(server.requests.map(({ method, url, headers }) => [method, url, headers[keyHeader]]))
    .toEqual([["GET", "/report", "some-key"]]);
});
