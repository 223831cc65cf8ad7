// Reason phrases that are not ASCII: HTTP allows their bytes, `new Response()` does not.
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";

import { HttpError } from "../mod.ts";
import { apiKey, testWatched, undocumented } from "./client.ts";
import { replaceClock } from "./clock.ts";
import { failure } from "./failure.ts";
import { serveBytes } from "./server.ts";

const phrases = {
  "Latin-1": Buffer.from("Non trouv\xe9", "latin1"),
  "UTF-8": Buffer.from("Не найдено"),
};

for (const [encoding, phrase] of Object.entries(phrases)) {
  testWatched(`methods take a reason phrase in ${encoding}`, async (create) => {
    using _clock = replaceClock();
    let status = 0;
    await using server = await serveBytes((socket) => {
      socket.write(`HTTP/1.1 ${status} `);
      socket.write(phrase);
      socket.end('\r\nConnection: close\r\nContent-Length: 7\r\n\r\n["a"]  ');
    });
    const client = create({ baseUrl: server.url, apiKey });
    const path = `/${undocumented}` as const;
    for (const [failed, sent] of [[401, 1], [404, 1], [429, 3]] as const) {
      [status, server.count] = [failed, 0];
      const error = await failure(HttpError, client.call("GET", undocumented));
      expect([error.status, error.body, server.count]).toEqual([status, ["a"], sent]);
      const { response, error: body } = await client.POST(path, { body: {} });
      expect([response.status, body, server.count]).toEqual([status, ["a"], 2 * sent]);
    }
    [status, server.count] = [201, 0];
    expect(await client.call("POST", undocumented)).toEqual(["a"]);
    expect(await client.GET(path)).toMatchObject({ data: ["a"], response: { status } });
    expect(server.count).toBe(2);
  });
}
