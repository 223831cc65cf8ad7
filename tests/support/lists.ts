/** Tests that a list has each of some names once, and no other. Its rule says what to do. */
export function testList(rule: string, actual: string[], names: string[]): void {
  Deno.test(rule, () => {
    const missing = names.filter((name) => !actual.includes(name));
    const others = actual.filter((name, at) => !names.includes(name) || actual.indexOf(name) < at);
    const problems = [
      ...missing.map((name) => `missing: ${name}`),
      ...others.map((name) => names.length ? `too much: ${name}` : name),
    ];
    if (problems.length) throw new Error(`${rule}\n${problems.join("\n")}`);
  });
}
