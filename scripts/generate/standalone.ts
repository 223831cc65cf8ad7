/** ajv's standalone code as small, strict TypeScript. @module */

import { Ajv2020 } from "ajv/dist/2020.js";
import standaloneCode from "ajv/dist/standalone/index.js";
import ts from "typescript";
import type { JsonObject } from "./spec.ts";
import { vocabulary } from "./vocabulary.ts";

const { factory, SyntaxKind } = ts;

/** Functions that the generated ones share; each is written only where one of them calls it. */
const helperCode: Readonly<Record<string, string>> = {
  fail: `
function fail(path: string, rule: string): Issue[] {
  return [{ path, rule }];
}`,
  isObject: `
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}`,
  own: `
/** Reads a property whose name every object inherits a value for. */
function own(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}`,
  codePoints: `
/** The length of a text as JSON Schema counts it. */
function codePoints(text: string): number {
  return Array.from(text).length;
}`,
  isUnique: `
/** Whether no two items are the same JSON value; the order of properties does not matter. */
function isUnique(items: readonly unknown[]): boolean {
  const sorted = (_: string, value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
      : value;
  return new Set(items.map((item) => JSON.stringify(item, sorted))).size === items.length;
}`,
  anyOf: `
function anyOf(path: string, branches: readonly (Issue[] | undefined)[]): Issue[] | undefined {
  return branches.includes(undefined) ? undefined : closest(path, "anyOf", branches);
}`,
  oneOf: `
function oneOf(path: string, branches: readonly (Issue[] | undefined)[]): Issue[] | undefined {
  const fit = branches.filter((issues) => issues === undefined).length;
  if (fit === 1) return undefined;
  return fit > 1 ? fail(path, "oneOf") : closest(path, "oneOf", branches);
}`,
  closest: `
/** The issues of the branches that the value came close to, or else that it fits none. */
function closest(
  path: string,
  rule: string,
  branches: readonly (Issue[] | undefined)[],
): Issue[] {
  const below = branches.flatMap((issues) => issues ?? []).filter((issue) => issue.path !== path);
  return below.length > 0 ? below : fail(path, rule);
}`,
};

/** The names that generated functions must not have. */
export const helperNames: readonly string[] = Object.keys(helperCode);

/** The code of the helpers that some code uses, and of those that they use in turn. */
export function helpers(code: readonly string[]): string {
  const used = new Set<string>();
  const search = (text: string) => {
    for (const [word] of text.matchAll(/\b\w+(?=\()/g)) {
      const helper = used.has(word) || !Object.hasOwn(helperCode, word)
        ? undefined
        : helperCode[word];
      if (helper === undefined) continue;
      used.add(word);
      search(helper);
    }
  };
  code.forEach(search);
  return helperNames.filter((name) => used.has(name)).map((name) => helperCode[name]).join("\n");
}

const ajv = new Ajv2020({
  strict: false,
  messages: false,
  logger: false,
  validateSchema: false,
  validateFormats: false,
  loopEnum: Infinity,
  addUsedSchema: false,
  code: { source: true, lines: true, optimize: true },
});
ajv.opts.unevaluated = false; // nothing here asks which properties were looked at
for (const keyword of ["then", "else", ...vocabulary.map(({ keyword }) => String(keyword))]) {
  ajv.removeKeyword(keyword);
}
ajv.addVocabulary(vocabulary);

/**
 * Compiles a schema to a function in TypeScript.
 *
 * @param name The name of the function.
 * @param schema A schema of the keywords in `vocabulary.ts` and of ajv's own.
 * @returns The function's code.
 */
export function compileFunction(name: string, schema: JsonObject): string {
  const code = standaloneCode.default(ajv, ajv.compile(schema));
  const file = ts.createSourceFile("ajv.js", code, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TS);
  const statements = [...file.statements];
  const validate = statements.find(ts.isFunctionDeclaration);
  if (!validate?.body) throw new Error(`ajv wrote no function for "${name}"`);
  const body = new Simplifier().statements(validate.body.statements);
  body.push(factory.createReturnStatement(factory.createIdentifier("undefined")));
  const block = factory.createBlock(body, true);
  const names = namesIn(block);
  for (const word of names) {
    if (/^(errors|vErrors|_errs\d+|valid\d+|schema\d*|rootData|instancePath)$/.test(word)) {
      throw notUnderstood(validate);
    }
  }
  const parameter = (word: string) => names.has(word) ? word : `_${word}`;
  return `function ${name}(${parameter("data")}: unknown, ${parameter("path")} = ""): ` +
    `Issue[] | undefined ${printer.printNode(ts.EmitHint.Unspecified, block, file)}`;
}

const printer = ts.createPrinter({ removeComments: true });

/** The names of variables and functions in some code; those of properties are none. */
function namesIn(root: ts.Node): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) names.add(node.text);
    else if (ts.isPropertyAccessExpression(node)) visit(node.expression);
    else ts.forEachChild(node, visit);
  };
  visit(root);
  return names;
}

/**
 * Takes the bookkeeping out of ajv's code. No function goes on after an error, so their count is
 * always 0 and every `valid` that is asked for is true.
 */
class Simplifier {
  statements(list: readonly ts.Statement[]): ts.Statement[] {
    const out: ts.Statement[] = [];
    for (const statement of list) {
      out.push(...this.#statement(statement));
      const last = out.at(-1);
      if (last && endsFlow(last)) break;
    }
    return out;
  }

  #statement(node: ts.Statement): ts.Statement[] {
    if (ts.isBlock(node)) return this.statements(node.statements);
    if (ts.isEmptyStatement(node) || ts.isBreakStatement(node)) return [node];
    if (ts.isIfStatement(node)) return this.#if(node);
    if (ts.isVariableStatement(node)) return this.#variables(node);
    if (ts.isReturnStatement(node)) return this.#return(node);
    if (ts.isExpressionStatement(node)) return this.#assignment(node);
    if (ts.isForInStatement(node) || ts.isForStatement(node)) {
      const body = this.#statement(node.statement);
      if (body.length === 0) return [];
      const block = factory.createBlock(body, true);
      return [
        ts.isForInStatement(node)
          ? factory.createForInStatement(node.initializer, this.#expression(node.expression), block)
          : factory.createForStatement(node.initializer, node.condition, node.incrementor, block),
      ];
    }
    throw notUnderstood(node);
  }

  #if(node: ts.IfStatement): ts.Statement[] {
    const known = truth(node.expression);
    const yes = known === false ? [] : this.#statement(node.thenStatement);
    const no = known === true || !node.elseStatement ? [] : this.#statement(node.elseStatement);
    if (known !== undefined) return known ? yes : no;
    const condition = this.#expression(node.expression);
    if (yes.length === 0 && no.length === 0) return [];
    if (yes.length === 0) return [choose(negate(condition), no)];
    const last = yes.at(-1);
    if (no.length > 0 && last && endsFlow(last)) return [choose(condition, yes), ...no];
    // What follows the shorter, ending branch needs no indentation.
    const lastNo = no.at(-1);
    if (lastNo && endsFlow(lastNo)) return [choose(negate(condition), no), ...yes];
    return [choose(condition, yes, no)];
  }

  #variables(node: ts.VariableStatement): ts.Statement[] {
    const kept = node.declarationList.declarations.filter(({ name, initializer }) => {
      if (!initializer) throw notUnderstood(node);
      if (!/^valid\d+$/.test(name.getText())) {
        return !/^(errors|vErrors|_errs\d+)$/.test(name.getText());
      }
      // Every `valid` that is looked at is taken for true.
      if (truth(initializer) === undefined) throw notUnderstood(node);
      return false;
    });
    return kept.map(({ name, initializer }) => {
      const value = initializer && this.#expression(initializer);
      const unknown = /^data\d+$/.test(name.getText())
        ? factory.createKeywordTypeNode(SyntaxKind.UnknownKeyword)
        : undefined;
      const declaration = factory.createVariableDeclaration(
        name as ts.Identifier,
        undefined,
        unknown,
        value,
      );
      return factory.createVariableStatement(
        undefined,
        factory.createVariableDeclarationList([declaration], ts.NodeFlags.Const),
      );
    });
  }

  #return({ expression }: ts.ReturnStatement): ts.Statement[] {
    if (!expression || truth(expression) === true) return [];
    // `return false` comes after an assignment, from which the issues are returned.
    if (expression.kind === SyntaxKind.FalseKeyword) return [];
    return [factory.createReturnStatement(this.#expression(expression))];
  }

  /** `validate.errors = [{ … }]` becomes the return of an issue. */
  #assignment({ expression }: ts.ExpressionStatement): ts.Statement[] {
    if (!ts.isBinaryExpression(expression)) throw notUnderstood(expression);
    const { left, right } = expression;
    if (!/\.errors$/.test(left.getText())) throw notUnderstood(expression);
    if (!ts.isArrayLiteralExpression(right)) return []; // at the end, where there is none
    const [error] = right.elements;
    if (!error || !ts.isObjectLiteralExpression(error)) throw notUnderstood(expression);
    const fields = new Map(
      error.properties.map((field) => [
        field.name?.getText(),
        ts.isPropertyAssignment(field) ? field.initializer : factory.createIdentifier("path"),
      ]),
    );
    const path = fields.get("instancePath");
    const rule = fields.get("keyword");
    if (!path || !rule) throw notUnderstood(expression);
    const issue = factory.createCallExpression(factory.createIdentifier("fail"), undefined, [
      this.#expression(path),
      this.#expression(rule),
    ]);
    return [factory.createReturnStatement(issue)];
  }

  #expression(node: ts.Expression): ts.Expression {
    const visit = (node: ts.Node): ts.Node => {
      if (!ts.isExpression(node)) return ts.visitEachChild(node, visit, undefined);
      return this.#known(node) ?? ts.visitEachChild(node, visit, undefined);
    };
    return visit(node) as ts.Expression;
  }

  /** The shorter form of an expression that is known. */
  #known(node: ts.Expression): ts.Expression | undefined {
    if (ts.isParenthesizedExpression(node)) {
      const inner = this.#expression(node.expression);
      return ts.isIdentifier(inner) || ts.isCallExpression(inner)
        ? inner
        : factory.createParenthesizedExpression(inner);
    }
    if (ts.isIdentifier(node)) {
      if (node.text === "instancePath") return factory.createIdentifier("path");
      if (/^func\d+$/.test(node.text)) return factory.createIdentifier("codePoints");
    }
    if (ts.isCallExpression(node) && node.expression.getText() === "RegExp") return regExp(node);
    if (ts.isElementAccessExpression(node)) return this.#property(node, node.argumentExpression);
    if (ts.isPropertyAccessExpression(node)) {
      const { expression, name } = node; // the name of a property is none of ajv's
      return this.#property(node, name) ??
        factory.createPropertyAccessExpression(this.#expression(expression), name);
    }
    if (!ts.isBinaryExpression(node)) return undefined;
    if (node.operatorToken.kind === SyntaxKind.PlusToken) return this.#path(node);
    if (node.operatorToken.kind !== SyntaxKind.AmpersandAmpersandToken) return undefined;
    const tests = operands(node, SyntaxKind.AmpersandAmpersandToken);
    const [first, second, third] = tests.map((test) => test.getText().replaceAll(/\s/g, ""));
    const is = (type: string, ...texts: string[]) =>
      tests.length === 3 && [first, second, third].every((text, index) => text === texts[index])
        ? call(type, tests)
        : undefined;
    const subject = first?.replace(/^typeof(.*)=="number"$/, "$1") ?? "";
    return is("isObject", subject, `typeof${subject}=="object"`, `!Array.isArray(${subject})`) ??
      is("Number.isInteger", `typeof${subject}=="number"`, `!(${subject}%1)`, `!isNaN(${subject})`);
  }

  #property(
    node: ts.ElementAccessExpression | ts.PropertyAccessExpression,
    name: ts.Expression | ts.MemberName,
  ): ts.Expression | undefined {
    if (!/^data\d*$/.test(node.expression.getText())) return undefined;
    if (ts.isElementAccessExpression(node) && !ts.isStringLiteral(name)) return undefined;
    const { text } = name as ts.Identifier | ts.StringLiteral;
    if (text in Object.prototype) {
      const own = factory.createIdentifier("own");
      return factory.createCallExpression(own, undefined, [
        node.expression,
        factory.createStringLiteral(text),
      ]);
    }
    return ts.isPropertyAccessExpression(node) || !/^[A-Za-z_$][\w$]*$/.test(text)
      ? undefined
      : factory.createPropertyAccessExpression(node.expression, text);
  }

  /** Joins the constant parts of a path; a name that comes from the value becomes `*`. */
  #path(node: ts.BinaryExpression): ts.Expression | undefined {
    const parts: (string | ts.Expression)[] = [];
    for (const part of operands(node, SyntaxKind.PlusToken)) {
      const [, name] = part.getText().match(/^(\w+)\.replace\(/) ?? [];
      const text = ts.isStringLiteral(part) ? part.text : name?.startsWith("key") ? "*" : undefined;
      const last = parts.at(-1);
      if (name?.startsWith("i")) parts.push(factory.createIdentifier(name)); // an index
      else if (text === undefined) parts.push(this.#expression(part));
      else if (typeof last === "string") parts[parts.length - 1] = last + text;
      else if (text !== "") parts.push(text);
    }
    return parts
      .map((part) => typeof part === "string" ? factory.createStringLiteral(part) : part)
      .reduce((left, right) => factory.createAdd(left, right));
  }
}

function notUnderstood(node: ts.Node): Error {
  return new Error(`ajv wrote code that is not understood: ${node.getText()}`);
}

/** Whether nothing after a statement is reached. */
function endsFlow(node: ts.Statement): boolean {
  return ts.isReturnStatement(node) || ts.isBreakStatement(node);
}

/** The value of a condition that only counts errors. */
function truth(node: ts.Expression): boolean | undefined {
  const text = node.getText().replaceAll(/[\s()]/g, "");
  if (/^(true|valid\d+|(errors|_errs\d+)===(errors|_errs\d+|0))$/.test(text)) return true;
  if (/^(false|!valid\d+)$/.test(text)) return false;
  return undefined;
}

function negate(condition: ts.Expression): ts.Expression {
  if (ts.isPrefixUnaryExpression(condition) && condition.operator === SyntaxKind.ExclamationToken) {
    return condition.operand;
  }
  if (ts.isBinaryExpression(condition)) {
    const opposite = new Map<ts.SyntaxKind, ts.BinaryOperator>([
      [SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken],
      [SyntaxKind.ExclamationEqualsEqualsToken, SyntaxKind.EqualsEqualsEqualsToken],
      [SyntaxKind.EqualsEqualsToken, SyntaxKind.ExclamationEqualsToken],
    ]).get(condition.operatorToken.kind);
    if (opposite !== undefined) {
      return factory.createBinaryExpression(condition.left, opposite, condition.right);
    }
  }
  return factory.createLogicalNot(factory.createParenthesizedExpression(condition));
}

function choose(
  condition: ts.Expression,
  yes: ts.Statement[],
  no: ts.Statement[] = [],
): ts.Statement {
  const block = (list: ts.Statement[]) => factory.createBlock(list, true);
  return factory.createIfStatement(condition, block(yes), no.length > 0 ? block(no) : undefined);
}

/** The operands of a chain of one operator, without the parentheses around them. */
function operands(node: ts.Expression, operator: ts.SyntaxKind): ts.Expression[] {
  const bare = ts.isParenthesizedExpression(node) ? node.expression : node;
  if (!ts.isBinaryExpression(bare) || bare.operatorToken.kind !== operator) return [bare];
  return [...operands(bare.left, operator), ...operands(bare.right, operator)];
}

/** A call of a type's test with the value that ajv's own test starts with. */
function call(name: string, [first]: ts.Expression[]): ts.Expression {
  const value = first && ts.isBinaryExpression(first) && ts.isTypeOfExpression(first.left)
    ? first.left.expression
    : first;
  const test = factory.createIdentifier(name);
  return factory.createCallExpression(test, undefined, value ? [value] : []);
}

/** `RegExp("…", "u")` as a literal, which is compiled once and has no side effects. */
function regExp(node: ts.CallExpression): ts.Expression {
  const [source, flags] = node.arguments.map((argument) => (argument as ts.StringLiteral).text);
  return factory.createRegularExpressionLiteral(String(new RegExp(source ?? "", flags)));
}
