/** `instanceof` works between what `import` and what `require` load. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as imported from "@scam-address/client";

const required = createRequire(import.meta.url)("@scam-address/client");

// There are two copies of each class.
assert.notEqual(imported.ScamAddressError, required.ScamAddressError);

for (const [from, to] of [[imported, required], [required, imported]]) {
  const baseUrl = "https://service.example/";
  const fetch = () => Promise.resolve(new Response("", { status: 500 }));
  const client = from.createClient({ baseUrl, fetch, retries: 0 });
  const error = await client.checkKey("demo-key").catch((error) => error);
  assert.equal(Object.getPrototypeOf(error), from.HttpError.prototype);
  assert.ok(error instanceof to.HttpError);
  assert.ok(error instanceof to.ScamAddressError);
  assert.ok(!(error instanceof to.NetworkError));
  assert.equal(error.isTemporary, true);
}
