// What HTTP servers send and runtimes receive, but `new Response()` and `new Headers()` refuse.
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";

import { type RetryEvent, ScamAddressError } from "../mod.ts";
import { replaceWaiting } from "./support/waiting.ts";
import { apiKey, testBothWays, undocumented } from "./support/client.ts";
import { rejection, shown } from "./support/rejection.ts";
import { serveBytes } from "./support/server.ts";

const phrases = {
  "Latin-1": Buffer.from("Non trouv\xe9", "latin1"),
  "UTF-8": Buffer.from("Не найдено"),
};

for (const [encoding, phrase] of Object.entries(phrases)) {
  testBothWays(`methods take a reason phrase in ${encoding}`, async (create) => {
    let status = 0;
    await using server = await serveBytes((socket) => {
      socket.write(`HTTP/1.1 ${status} `);
      socket.write(phrase);
      socket.end('\r\nConnection: close\r\nContent-Length: 7\r\n\r\n["a"]  ');
    });
    const client = create({ baseUrl: server.url, apiKey });
    for (status of [201, 404]) {
      const { data, error, response } = await client.GET(`/${undocumented}`);
      expect([response.status, data ?? error]).toEqual([status, ["a"]]);
    }
  });
}

testBothWays("errors do not quote a header's name that has a space", async (create) => {
  let status = 0; // Node.js 20 and 22 receive such names; other runtimes refuse the response.
  await using server = await serveBytes((socket) => {
    const head = `HTTP/1.1 ${status} OK\r\nConnection: close\r\nContent-Length: 4\r\n`;
    socket.end(`${head}x ${apiKey}: y\r\n\r\n<h1>`);
  });
  using _waiting = replaceWaiting();
  const errors: ScamAddressError[] = [];
  const onRetry = ({ error }: RetryEvent) => void errors.push(error);
  const client = create({ baseUrl: server.url, apiKey, onRetry, retries: 1 });
  for (status of [200, 401, 503]) {
    errors.push(await rejection(ScamAddressError, client.call("GET", undocumented)));
  }
  for (const error of errors) expect(shown(error)).not.toContain(apiKey);
});
