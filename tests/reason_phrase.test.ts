// Reason phrases that are not ASCII: HTTP allows their bytes, `new Response()` does not.
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";

import { apiKey, testWatched, undocumented } from "./support/client.ts";
import { serveBytes } from "./support/server.ts";

const phrases = {
  "Latin-1": Buffer.from("Non trouv\xe9", "latin1"),
  "UTF-8": Buffer.from("Не найдено"),
};

for (const [encoding, phrase] of Object.entries(phrases)) {
  testWatched(`methods take a reason phrase in ${encoding}`, async (create) => {
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
