import { makeFolder, root } from "./files.ts";

/** The Deno that runs this. */
export const deno: string = Deno.execPath();

/**
 * Runs a command to its end, with nothing on its standard input and without colors.
 *
 * @throws {Error} If the signal in the options has ended it; the message has what it wrote until then.
 */
export async function run(command: string, args: string[], options: Deno.CommandOptions = {}) {
  const env = { NO_COLOR: "1", ...options.env };
  const result = await new Deno.Command(command, { stdin: "null", ...options, env, args }).output();
  const stdout = new TextDecoder().decode(result.stdout);
  const stderr = new TextDecoder().decode(result.stderr);
  /** What it wrote to standard output, followed by what it wrote to standard error. */
  const output = [stdout, stderr].map((text) => text.trim()).filter(Boolean).join("\n");
  if (!result.success && options.signal?.aborted) {
    throw new Error(`"${command} ${args.join(" ")}" hit its time limit:\n${output}`);
  }
  return { success: result.success, code: result.code, stdout, stderr, output };
}

/** Runs a command that must succeed; resolves to what it wrote to standard output. */
export async function mustRun(command: string, args: string[], options?: Deno.CommandOptions) {
  const { success, code, stdout, output } = await run(command, args, options);
  if (!success) throw new Error(`"${command} ${args.join(" ")}" exited with ${code}:\n${output}`);
  return stdout;
}

/** Bundles a program of the project; `await using` removes it. */
export async function bundle(program: string): Promise<{ path: string } & AsyncDisposable> {
  const folder = await makeFolder();
  const path = `${folder.path}/program.mjs`;
  const args = ["bundle", "--quiet", "--no-lock", `--output=${path}`, program];
  await mustRun(deno, args, { cwd: root });
  return { ...folder, path };
}
