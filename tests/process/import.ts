// Imports the package where globals are missing, as in jest's jsdom, which gets them later.
const names = ["fetch", "Headers", "Request", "Response", "TextDecoder", "TextEncoder"];
const descriptors = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name)!);
for (const name of names) Reflect.deleteProperty(globalThis, name);

const { createClient } = await import("../../mod.ts");
const { createSandbox } = await import("../../src/sandbox/service.ts");

for (const [index, name] of names.entries()) {
  Object.defineProperty(globalThis, name, descriptors[index]!);
}
const { fetch } = createSandbox({ keys: { "demo-key": 100 } });
const client = createClient({ baseUrl: "https://service.example/", fetch });
console.log(JSON.stringify(await client.checkKey("demo-key")));
