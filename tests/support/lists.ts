/**
 * Tests that a list has each of some names once, and no other. Without names, the list is one of problems.
 *
 * @param rule The name of the test, which says what to do if it fails.
 */
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
