/** Chromium, which must be installed: npm has none. */

/** Returns the first of Chromium's names that starts a browser. */
export function findChromium(): string {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      const { success } = new Deno.Command(name, { args: ["--version"] }).outputSync();
      if (success) return name;
    } catch { /* There is none of this name. */ }
  }
  throw new Error("No Chromium in PATH: install it, for example with `apt-get install chromium`");
}

/** The arguments to open a page, with a folder for its profile. */
export function openPage(url: string, profile: string): string[] {
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"];
  const offline = ["--disable-background-networking", "--disable-component-update"];
  return [...flags, ...offline, `--user-data-dir=${profile}`, url];
}
