/** Chromium, which must be installed: npm has none. */

/** The first of Chromium's names that starts a browser. */
function find(): string | undefined {
  return ["chromium", "chromium-browser", "google-chrome"].find((name) => {
    try {
      return new Deno.Command(name, { args: ["--version"], stderr: "null" }).outputSync().success;
    } catch {
      return false;
    }
  });
}

/** Its command; `undefined` where it is not installed. */
export const chromium: string | undefined = find();

/** What the names of tests end with that are ignored because there is no Chromium. */
export const skipped: string = chromium
  ? ""
  : ', skipped: no Chromium in PATH: install it, for example with "apt-get install chromium"';

/** The arguments to open a page, with a folder for its profile. */
export function openPage(url: string, profile: string): string[] {
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"];
  const offline = ["--disable-background-networking", "--disable-component-update"];
  return [...flags, ...offline, `--user-data-dir=${profile}`, url];
}
