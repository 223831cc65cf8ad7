/** The errors, whose classes a compiler has turned into functions. */

const assert = require("node:assert/strict");
const errors = require("./errors.cjs");

const temporary = ["NetworkError", "TimeoutError"];

const names = Object.keys(errors).filter((name) => name !== "ScamAddressError");
assert.equal(names.length, 6);
const response = { status: 400, headers: new Headers(), body: "" };
for (const name of names) {
  const error = new errors[name]("text", { response, option: "timeout" });
  assert.deepEqual(
    Object.keys(errors).filter((other) => error instanceof errors[other]).sort(),
    [name, "ScamAddressError"].sort(),
  );
  assert.ok(error instanceof Error);
  assert.deepEqual([error.name, error.message], [name, "text"]);
  const { code, isTemporary } = JSON.parse(JSON.stringify(error));
  assert.deepEqual([code, isTemporary], [errors[name].code, temporary.includes(name)]);
  assert.equal(error.isTemporary, isTemporary);
}
