// What tests use of src/ that users cannot import. A renamed file of src/ is renamed here alone.
export { has } from "../../src/checks.ts";
export { run } from "../../src/cli/command.ts";
export { EXIT, HELP } from "../../src/cli/help.ts";
export { version } from "../../src/cli/version.ts";
export { apiKeyHeader, operations } from "../../src/generated/operations.ts";
export { MARK } from "../../src/http/failures.ts";
export type { Operation } from "../../src/operation.ts";
export { readRetryAfter, retryDelay } from "../../src/http/retry.ts";
export type { OptionTable } from "../../src/options.ts";
export { backoff } from "../../src/http/send.ts";
