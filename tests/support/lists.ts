/** Tests that a list has each of some names once, and no other. The rule says what to do, too. */
export function testList(rule: string, actual: string[], names: string[]): void {
  Deno.test(rule, () => {
    const missing = names.filter((name) => !actual.includes(name));
    const others = actual.filter((name, at) => !names.includes(name) || actual.indexOf(name) < at);
    const problems = [
      ...missing.map((name) => `missing: ${name}`),
      ...others.map((name) => `too much: ${name}`),
    ];
    if (problems.length) throw new Error(`${rule}:\n${problems.join("\n")}`);
  });
}
