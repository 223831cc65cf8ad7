/**
 * The keywords whose code ajv's compiler takes from here.
 *
 * ajv's own code for references, unions and properties counts errors in variables so that it can
 * take them back. Here every branch is a function that returns its issues, which leaves nothing to
 * take back: a function returns at its first issue.
 *
 * @module
 */

import {
  _,
  type Code,
  type CodeKeywordDefinition,
  type KeywordCxt,
  Name,
  nil,
  stringify,
} from "ajv/dist/2020.js";
import { join, regExpFlags, type Schema } from "./schema.ts";
import type { Json } from "./spec.ts";

/** One branch of a union or a condition: a test in place, or a function that returns issues. */
export type Branch = { readonly test: Schema } | { readonly call: string };

/** A union whose branches are told apart by the value of one property. */
export interface Choice {
  readonly tag: string;
  readonly rule: string;
  readonly branches: readonly { readonly values: readonly Json[]; readonly call: string }[];
}

const path = new Name("instancePath");

function pathOf({ it }: KeywordCxt, name?: string): Code {
  return _`${path} + ${it.errorPath} + ${name === undefined ? "" : join("", name)}`;
}

/** Reads a property; `name` may be one that every object inherits. */
function property(data: Code, name: string): Code {
  return _`${data}[${name}]`;
}

function fail(cxt: KeywordCxt, rule: string, name?: string): void {
  cxt.gen.code(_`return fail(${pathOf(cxt, name)}, ${rule})`);
}

function call(cxt: KeywordCxt, name: string, data: Code = cxt.data): Code {
  return _`${new Name(name)}(${data}, ${pathOf(cxt)})`;
}

/** Returns the issues that an expression evaluates to, if there are any. */
function passOn({ gen }: KeywordCxt, issues: Code): void {
  const found = gen.const("issues", issues);
  gen.if(found, () => gen.code(_`return ${found}`));
}

const types: Record<string, (data: Code) => Code> = {
  array: (data) => _`Array.isArray(${data})`,
  boolean: (data) => _`typeof ${data} === "boolean"`,
  integer: (data) => _`Number.isInteger(${data})`,
  null: (data) => _`${data} === null`,
  number: (data) => _`typeof ${data} === "number"`,
  object: (data) => _`isObject(${data})`,
  string: (data) => _`typeof ${data} === "string"`,
};

function any(conditions: Code[]): Code {
  return conditions.reduce((left, right) => _`${left} || ${right}`);
}

/** Whether a value fits a schema that has at most a `type` and a `const` or an `enum`. */
function test(schema: Schema, data: Code): Code {
  const conditions: Code[] = [];
  if (schema.type !== undefined) {
    const names = [schema.type].flat().map(String);
    conditions.push(any(names.map((name) => types[name]?.(data) ?? _`false`)));
  }
  const values = "const" in schema ? [schema.const] : schema.enum;
  if (Array.isArray(values)) {
    conditions.push(any(values.map((value) => _`${data} === ${stringify(value)}`)));
  }
  if (conditions.length === 0) return _`true`;
  return conditions.map((each) => _`(${each})`).reduce((left, right) => _`${left} && ${right}`);
}

/** The issues of a branch, undefined if the value fits; `rule` names the keyword it belongs to. */
function issuesOf(cxt: KeywordCxt, branch: Branch, rule: string): Code {
  if ("call" in branch) return call(cxt, branch.call);
  return _`${test(branch.test, cxt.data)} ? undefined : fail(${pathOf(cxt)}, ${rule})`;
}

function fits(cxt: KeywordCxt, branch: Branch, data: Code = cxt.data): Code {
  return "call" in branch ? _`!${call(cxt, branch.call, data)}` : test(branch.test, data);
}

function keyword(
  name: string,
  code: (cxt: KeywordCxt) => void,
  type?: CodeKeywordDefinition["type"],
): CodeKeywordDefinition {
  return { keyword: name, code, ...(type !== undefined && { type }) };
}

/** A schema below a property or an item. */
function below(cxt: KeywordCxt, schema: Schema, data: string | Name): void {
  if (Object.keys(schema).length === 0) return;
  const at = { schema, schemaPath: nil, topSchemaRef: new Name("schema"), errSchemaPath: "" };
  cxt.subschema({ ...at, dataProp: data }, cxt.gen.name("valid"));
}

export const vocabulary: CodeKeywordDefinition[] = [
  keyword("call", (cxt) => passOn(cxt, call(cxt, cxt.schema))),

  keyword("choice", (cxt) => {
    const { gen, data } = cxt;
    const { tag, rule, branches }: Choice = cxt.schema;
    gen.if(_`!isObject(${data})`, () => fail(cxt, "type"));
    const value = gen.const("tag", property(data, tag));
    const otherwise = _`fail(${pathOf(cxt, tag)}, ${value} === undefined ? "required" : ${rule})`;
    const issues = branches.reduceRight<Code>(
      (rest, { values, call: name }) =>
        _`${any(values.map((each) => _`${value} === ${stringify(each)}`))} ? ${
          call(cxt, name)
        } : ${rest}`,
      otherwise,
    );
    passOn(cxt, issues);
  }),

  keyword("anyOf", (cxt) => {
    const branches: Branch[] = cxt.schema;
    if (branches.every((branch) => "test" in branch)) {
      const fit = any(branches.map((branch) => fits(cxt, branch)));
      cxt.gen.if(_`!(${fit})`, () => fail(cxt, "anyOf"));
    } else passOn(cxt, unionOf(cxt, "anyOf", branches));
  }),
  keyword("oneOf", (cxt) => passOn(cxt, unionOf(cxt, "oneOf", cxt.schema))),

  keyword("not", (cxt) => cxt.gen.if(fits(cxt, cxt.schema), () => fail(cxt, "not"))),

  keyword("if", (cxt) => {
    const [yes, no] = ["then", "else"].map((rule) => {
      const branch: Branch | undefined = cxt.parentSchema[rule];
      return branch ? issuesOf(cxt, branch, rule) : _`undefined`;
    });
    passOn(cxt, _`${fits(cxt, cxt.schema)} ? ${yes} : ${no}`);
  }),

  keyword("required", (cxt) => {
    const { properties = {} } = cxt.parentSchema;
    for (const name of cxt.schema) {
      if (!Object.hasOwn(properties, name)) missing(cxt, name);
    }
  }, "object"),

  keyword("properties", (cxt) => {
    const { required = [] } = cxt.parentSchema;
    for (const [name, schema] of Object.entries<Schema>(cxt.schema)) {
      if (required.includes(name)) {
        missing(cxt, name);
        below(cxt, schema, name);
      } else if (Object.keys(schema).length > 0) {
        cxt.gen.if(_`${property(cxt.data, name)} !== undefined`, () => below(cxt, schema, name));
      }
    }
  }, "object"),

  keyword("patternProperties", (cxt) => {
    for (const [source, schema] of Object.entries<Schema>(cxt.schema)) {
      if (Object.keys(schema).length === 0) continue;
      cxt.gen.forIn("key", cxt.data, (key) => {
        cxt.gen.if(matches(source, key), () => below(cxt, schema, key));
      });
    }
  }, "object"),

  keyword("additionalProperties", (cxt) => {
    const { gen, data, schema, parentSchema } = cxt;
    const names = Object.keys(parentSchema.properties ?? {});
    const patterns = Object.keys(parentSchema.patternProperties ?? {});
    const check = (name: Name) => {
      if (schema === false) fail(cxt, "additionalProperties");
      else below(cxt, schema, name);
    };
    if (schema === false && names.length === 0 && patterns.length === 0) {
      gen.if(_`Object.keys(${data}).length > 0`, () => fail(cxt, "additionalProperties"));
      return;
    }
    gen.forIn("key", data, (key) => {
      const known = [
        ...names.map((name) => _`${key} === ${name}`),
        ...patterns.map((source) => matches(source, key)),
      ];
      if (known.length === 0) check(key);
      else gen.if(_`!(${any(known)})`, () => check(key));
    });
  }, "object"),

  keyword("propertyNames", (cxt) => {
    cxt.gen.forIn("key", cxt.data, (key) => {
      cxt.gen.if(_`!(${fits(cxt, cxt.schema, key)})`, () => fail(cxt, "propertyNames"));
    });
  }, "object"),

  keyword("dependentRequired", (cxt) => {
    for (const [name, others] of Object.entries<string[]>(cxt.schema)) {
      cxt.gen.if(_`${property(cxt.data, name)} !== undefined`, () => {
        for (const other of others) missing(cxt, other, "dependentRequired");
      });
    }
  }, "object"),

  keyword("dependentSchemas", (cxt) => {
    for (const [name, branch] of Object.entries<Branch>(cxt.schema)) {
      const issues = issuesOf(cxt, branch, "dependentSchemas");
      passOn(cxt, _`${property(cxt.data, name)} === undefined ? undefined : ${issues}`);
    }
  }, "object"),

  keyword("items", (cxt) => {
    const { gen, data, schema, parentSchema } = cxt;
    const start = parentSchema.prefixItems?.length ?? 0;
    gen.forRange("i", start, _`${data}.length`, (index) => below(cxt, schema, index));
  }, "array"),

  keyword("contains", (cxt) => {
    const { minContains: min = 1, maxContains: max } = cxt.parentSchema;
    const item = new Name("item");
    const count = cxt.gen.const(
      "count",
      _`${cxt.data}.filter((${item}) => ${fits(cxt, cxt.schema, item)}).length`,
    );
    const wrong = _`${count} < ${min}`;
    cxt.gen.if(max === undefined ? wrong : _`${wrong} || ${count} > ${max}`, () => {
      fail(cxt, "contains");
    });
  }, "array"),

  keyword("uniqueItems", (cxt) => {
    if (cxt.schema) cxt.gen.if(_`!isUnique(${cxt.data})`, () => fail(cxt, "uniqueItems"));
  }, "array"),

  keyword("multipleOf", (cxt) => {
    const ratio = _`${cxt.data} / ${cxt.schema}`;
    // 0.07 is a multiple of 0.01, though 0.07 / 0.01 is not quite 7.
    const wrong = _`Math.abs(Math.round(${ratio}) - ${ratio}) > 1e-6`;
    cxt.gen.if(wrong, () => fail(cxt, "multipleOf"));
  }, "number"),

  keyword("pattern", (cxt) => {
    cxt.gen.if(_`!${matches(cxt.schema, cxt.data)}`, () => fail(cxt, "pattern"));
  }, "string"),
];

function unionOf(cxt: KeywordCxt, rule: "anyOf" | "oneOf", branches: Branch[]): Code {
  const issues = branches.map((branch) => issuesOf(cxt, branch, rule))
    .reduce((left, right) => _`${left}, ${right}`);
  return _`${new Name(rule)}(${pathOf(cxt)}, [${issues}])`;
}

function missing(cxt: KeywordCxt, name: string, rule = "required"): void {
  cxt.gen.if(_`${property(cxt.data, name)} === undefined`, () => fail(cxt, rule, name));
}

/** Whether a string matches a pattern. */
function matches(source: string, data: Code): Code {
  return _`RegExp(${source}, ${regExpFlags(source) ?? ""}).test(${data})`;
}
