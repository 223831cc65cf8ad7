/** The Deno that runs this. */
export const deno: string = Deno.execPath();

/** How a process ended, and what it wrote. */
export interface Outcome {
  success: boolean;
  code: number;
  stdout: string;
  stderr: string;
  /** What it wrote to standard output, followed by what it wrote to standard error. */
  output: string;
}

/** Runs a command to its end, with nothing on its standard input and without colors. */
export async function run(
  command: string,
  args: string[],
  options: Deno.CommandOptions = {},
): Promise<Outcome> {
  const env = { NO_COLOR: "1", ...options.env };
  const result = await new Deno.Command(command, { stdin: "null", ...options, env, args }).output();
  const stdout = new TextDecoder().decode(result.stdout);
  const stderr = new TextDecoder().decode(result.stderr);
  const output = [stdout, stderr].map((text) => text.trim()).filter(Boolean).join("\n");
  return { success: result.success, code: result.code, stdout, stderr, output };
}

/** Runs a command that must succeed; resolves to what it wrote to standard output. */
export async function mustRun(
  command: string,
  args: string[],
  options?: Deno.CommandOptions,
): Promise<string> {
  const { success, code, stdout, output } = await run(command, args, options);
  if (!success) throw new Error(`"${command} ${args.join(" ")}" exited with ${code}:\n${output}`);
  return stdout;
}
