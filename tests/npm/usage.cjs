/** What an application does with the package, however it was loaded. */

const assert = require("node:assert/strict");

/**
 * Uses the client with the sandbox.
 *
 * @param {typeof import("../../mod.ts")} client The exports of `.`.
 * @param {typeof import("../../src/sandbox/service.ts")} sandbox The exports of `./sandbox`.
 */
exports.use = async (
  { createClient, InvalidResponseError, ScamAddressError },
  { createSandbox },
) => {
  const { fetch } = createSandbox({ keys: { "demo-key": 5 } });
  const options = { baseUrl: "https://service.example/api", apiKey: "demo-key" };
  const client = createClient({ ...options, fetch });
  assert.deepEqual(await client.checkOwnKey(), { apiKeyValid: true, data: { credits: 5 } });
  assert.equal((await client.checkKey("another-key")).apiKeyValid, false);
  assert.throws(() => createClient({ ...options, baseUrl: "relative" }), ScamAddressError);

  const malformed = () => Promise.resolve(Response.json({ apiKeyValid: 1 }));
  const wrong = createClient({ ...options, fetch: malformed });
  await assert.rejects(wrong.checkOwnKey(), InvalidResponseError);
};
