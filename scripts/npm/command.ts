/** How a command ended, and what it printed. */
export interface Outcome {
  success: boolean;
  code: number;
  stdout: string;
  /** What it wrote to standard output and then what it wrote to standard error. */
  output: string;
}

/** Runs a command to its end without a terminal. */
export async function run(
  command: string,
  args: string[],
  options: Deno.CommandOptions = {},
): Promise<Outcome> {
  const result = await new Deno.Command(command, { stdin: "null", ...options, args }).output();
  const [stdout, stderr] = [result.stdout, result.stderr].map((bytes) =>
    new TextDecoder().decode(bytes)
  ) as [string, string];
  return {
    success: result.success,
    code: result.code,
    stdout,
    output: [stdout, stderr].map((text) => text.trim()).filter(Boolean).join("\n"),
  };
}

/** Runs a command that must succeed, and gives what it wrote to standard output. */
export async function mustRun(
  command: string,
  args: string[],
  options?: Deno.CommandOptions,
): Promise<string> {
  const { success, code, stdout, output } = await run(command, args, options);
  if (!success) throw new Error(`"${command} ${args.join(" ")}" ended with ${code}:\n${output}`);
  return stdout;
}

/** Runs npm, which must succeed, and gives what it wrote to standard output. */
export function npm(args: string[], cwd: string): Promise<string> {
  const quiet = ["--loglevel=error", "--no-audit", "--no-fund", "--ignore-scripts", ...args];
  return Deno.build.os === "windows" // where npm is a script that only a shell starts
    ? mustRun("cmd", ["/c", "npm", ...quiet], { cwd })
    : mustRun("npm", quiet, { cwd });
}
