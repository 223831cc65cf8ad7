import type { ClientOptions } from "./api.ts";
import { convertOption, optionError } from "./checks.ts";

/** A host that is not reached over a network. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Checks the service's address, and normalizes it. */
export function readBaseUrl({ allowInsecureHttp, baseUrl }: ClientOptions): string {
  if (!baseUrl) throw optionError("baseUrl", "is missing: set it to the address of the service");
  const expected = "an absolute https URL without a user name, password, query or fragment";
  const { hostname, href, protocol } = convertOption("baseUrl", expected, () => {
    const url = new URL(baseUrl);
    return /^https?:\/\/[^/@]+\/[^?#]*$/.test(url.href) ? url : undefined;
  });
  const problem =
    'must be an https URL, because http does not encrypt the API key; set "allowInsecureHttp" to allow it';
  const isInsecure = protocol === "http:" && !LOOPBACK.test(hostname);
  if (isInsecure && !allowInsecureHttp) throw optionError("baseUrl", problem);
  return href;
}
