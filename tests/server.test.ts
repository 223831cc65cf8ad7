import { expect } from "@std/expect";
import { serve, serveSockets } from "./server.ts";

Deno.test("a test whose server never responds ends at the limit, and fails", async () => {
  for (const server of [await serve(() => {}, 50), await serveSockets(() => {}, "http", 50)]) {
    await expect(fetch(server.url)).rejects.toThrow();
    await expect(server[Symbol.asyncDispose]()).rejects.toThrow(
      "The test used its server for more than 50 ms",
    );
  }
});
