/** What changed between two contracts, in words. @module */

import { compareSchemas, type Verdict } from "./compare.ts";
import type { Content, Contract, Operation, Parameter } from "./operations.ts";

/** One thing that changed. */
interface Change {
  readonly text: string;
  readonly verdict: Verdict;
}

/** The contracts that are compared. */
interface Pair {
  readonly previous: Contract;
  readonly next: Contract;
}

/**
 * Says what changed between two descriptions.
 *
 * Callers are programs that use the client generated from the new description instead of the one
 * from the old. A change breaks them if a call that compiled and worked may not do so any more.
 *
 * @param previous The contract of the last run, if there was one.
 * @param next The contract now.
 * @returns A report of some lines.
 */
export function describeChanges(previous: Contract | undefined, next: Contract): string {
  if (!previous) return `No previous description to compare with: ${count(next.operations)}`;
  const pair: Pair = { previous, next };
  const { kept, added, removed } = match(previous.operations, next.operations);
  const changed = kept
    .map(([before, after]) => ({ after, changes: compareOperations(pair, before, after) }))
    .filter(({ changes }) => changes.length > 0);
  const everywhere = [
    ...changeOf("API key header", previous.apiKeyHeader, next.apiKeyHeader, "keeps"),
    ...compareNames(previous, next),
  ];

  const changes = [...everywhere, ...changed.flatMap(({ changes }) => changes)];
  if (changes.length + added.length + removed.length === 0) {
    return "No operation changed for callers";
  }
  const verdicts = new Set(changes.map(({ verdict }) => verdict));
  const verdict = removed.length > 0 || verdicts.has("breaks")
    ? "breaks"
    : verdicts.has("may break")
    ? "may break"
    : "keeps";
  return [
    `${added.length} added, ${removed.length} removed, ${changed.length} changed; ${
      words[verdict]
    }`,
    ...everywhere.map((change) => `* ${line(change)}`),
    ...added.map((operation) => `+ ${title(operation)}`),
    ...removed.map((operation) => `- ${title(operation)}: ${words.breaks}`),
    ...changed.flatMap(({ after, changes }) => [
      `~ ${title(after)}`,
      ...changes.map((change) => `    ${line(change)}`),
    ]),
  ].join("\n");
}

/** Names of schemas that are gone; callers may use the types of that name. */
function compareNames(previous: Contract, next: Contract): Change[] {
  return Object.keys(previous.definitions)
    .filter((name) => !Object.hasOwn(next.definitions, name))
    .map((name) => ({ text: `schema ${name} removed`, verdict: "may break" }));
}

const words: Readonly<Record<Verdict, string>> = {
  "breaks": "breaks callers",
  "may break": "may break callers",
  "keeps": "does not break callers",
};

function line({ text, verdict }: Change): string {
  return `${text}: ${words[verdict]}`;
}

function count(operations: readonly Operation[]): string {
  return operations.length === 1 ? "1 operation" : `${operations.length} operations`;
}

function title({ operationId, method, path }: Operation): string {
  return `${operationId} (${method} ${path})`;
}

/** Pairs operations by their name, and those without a partner by method and path. */
function match(previous: readonly Operation[], next: readonly Operation[]): {
  kept: [before: Operation, after: Operation][];
  added: Operation[];
  removed: Operation[];
} {
  const kept: [Operation, Operation][] = [];
  let removed = [...previous];
  let added = [...next];
  const keys = [
    ({ operationId }: Operation) => operationId,
    ({ method, path }: Operation) => `${method} ${path}`,
  ];
  for (const key of keys) {
    const before = new Map(removed.map((operation) => [key(operation), operation]));
    added = added.filter((operation) => {
      const partner = before.get(key(operation));
      if (partner) kept.push([partner, operation]);
      return !partner;
    });
    const partners = new Set(kept.map(([partner]) => partner));
    removed = removed.filter((operation) => !partners.has(operation));
  }
  return { kept, added, removed };
}

function changeOf(what: string, before: string, after: string, verdict: Verdict): Change[] {
  return before === after ? [] : [{ text: `${what}: ${before} → ${after}`, verdict }];
}

const apiKey = { required: "key required", optional: "key optional", none: "no key" };

function compareOperations(pair: Pair, before: Operation, after: Operation): Change[] {
  const place = ({ method, path }: Operation) => `${method} ${path}`;
  const repeated = ({ idempotent }: Operation) => idempotent ? "yes" : "no";
  return [
    // Only types are named after it.
    ...changeOf("operationId", before.operationId, after.operationId, "may break"),
    ...changeOf("path", place(before), place(after), "breaks"),
    ...changeOf(
      "security",
      apiKey[before.apiKey],
      apiKey[after.apiKey],
      after.apiKey === "required" ? "breaks" : "keeps",
    ),
    ...changeOf("repeated after a failure", repeated(before), repeated(after), "keeps"),
    ...compareParameters(pair, before.parameters, after.parameters),
    ...compareBodies(pair, before.requestBody, after.requestBody),
    ...compareResponses(pair, before, after),
  ];
}

function compareParameters(
  pair: Pair,
  before: readonly Parameter[],
  after: readonly Parameter[],
): Change[] {
  const name = (parameter: Parameter) => `${parameter.in} parameter "${parameter.name}"`;
  const key = (parameter: Parameter) =>
    parameter.in === "header" ? name(parameter).toLowerCase() : name(parameter);
  const old = new Map(before.map((parameter) => [key(parameter), parameter]));
  const changes = after.flatMap((parameter): Change[] => {
    const what = `request: ${name(parameter)}`;
    const partner = old.get(key(parameter));
    old.delete(key(parameter));
    const { required } = parameter;
    if (!partner) {
      const text = `${what} added, ${required ? "required" : "optional"}`;
      return [{ text, verdict: required ? "breaks" : "keeps" }];
    }
    return [
      ...compareRequired(what, partner.required, required),
      ...compareContents(pair, "request", what, partner.content, parameter.content),
    ];
  });
  const removed = [...old.values()].map((parameter): Change => ({
    text: `request: ${name(parameter)} removed`,
    verdict: "breaks",
  }));
  return [...changes, ...removed];
}

function compareRequired(what: string, before: boolean, after: boolean): Change[] {
  if (before === after) return [];
  return [{
    text: `${what} is ${after ? "now required" : "no longer required"}`,
    verdict: after ? "breaks" : "keeps",
  }];
}

function compareBodies(
  pair: Pair,
  before: Operation["requestBody"],
  after: Operation["requestBody"],
): Change[] {
  const what = "request body";
  if (!before && !after) return [];
  if (!after) return [{ text: `${what} removed`, verdict: "breaks" }];
  if (!before) {
    const { required } = after;
    const text = `${what} added, ${required ? "required" : "optional"}`;
    return [{ text, verdict: required ? "breaks" : "keeps" }];
  }
  return [
    ...compareRequired(what, before.required, after.required),
    ...compareContents(pair, "request", what, before.content, after.content),
  ];
}

/** Success responses make `data`, the others `error`: both are unions of what may be answered. */
function compareResponses(pair: Pair, before: Operation, after: Operation): Change[] {
  const isSuccess = (status: string) => status.startsWith("2");
  const statuses = [...new Set([before, after].flatMap(({ responses }) => Object.keys(responses)))];
  return statuses.sort().flatMap((status): Change[] => {
    const what = `response ${status}`;
    const old = before.responses[status];
    const now = after.responses[status];
    const others = (operation: Operation) =>
      Object.entries(operation.responses)
        .filter(([other]) => other !== status && isSuccess(other) === isSuccess(status))
        .map(([, content]) => content);
    if (old && now) return compareContents(pair, "response", what, old, now);
    if (now) {
      const known = others(before).some((content) => isSame(pair, content, now));
      return [{ text: `${what} added`, verdict: known ? "keeps" : "breaks" }];
    }
    // Code for an answer that is gone may not compile; with the last one, what it is in is gone.
    const left = others(after).length > 0;
    return [{ text: `${what} removed`, verdict: left ? "may break" : "breaks" }];
  });
}

function isSame(pair: Pair, before: Content, after: Content): boolean {
  return compareContents(pair, "response", "", before, after).length === 0;
}

function compareContents(
  { previous, next }: Pair,
  direction: "request" | "response",
  what: string,
  before: Content,
  after: Content,
): Change[] {
  const types = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const named = (type: string) => types.length > 1 ? `${what} (${type})` : what;
  return types.flatMap((type): Change[] => {
    const old = before[type];
    const now = after[type];
    if (old && now) {
      return compareSchemas(
        { schema: old, definitions: previous.definitions },
        { schema: now, definitions: next.definitions },
        direction,
      ).map(({ at, text, verdict }) => ({
        text: [named(type), at && ` "${at}"`, " ", text].join(""),
        verdict,
      }));
    }
    const text = `${what} ${type} ${now ? "added" : "removed"}`;
    if (direction === "request") return [{ text, verdict: now ? "keeps" : "breaks" }];
    return [{ text, verdict: now || Object.keys(after).length === 0 ? "breaks" : "may break" }];
  });
}
