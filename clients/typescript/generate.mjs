// Generates the types of both contracts: src/gen/socket.ts from asyncapi.yaml, and src/gen/rest.ts from
// openapi.yaml without the operators' operations. The files contain only what the contracts state; the code
// that uses them is written by hand.
//
//   node generate.mjs OPENAPI_YAML ASYNCAPI_YAML FOLDER

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { parse } from "yaml";

const [openapi_path, asyncapi_path, folder] = process.argv.slice(2);
if (!openapi_path || !asyncapi_path || !folder) {
  throw new Error("usage: node generate.mjs OPENAPI_YAML ASYNCAPI_YAML FOLDER");
}
await mkdir(folder, { recursive: true });
const [openapi, asyncapi] = await Promise.all(
  [openapi_path, asyncapi_path].map(async (path) => parse(await readFile(path, "utf8"))),
);
await writeFile(join(folder, "socket.ts"), socket(asyncapi));
await writeFile(join(folder, "rest.ts"), rest(openapi));

/** Returns the messages of both sides, and every schema of the document. */
function socket({ components, operations, channels }) {
  const names = (operation) =>
    operation.messages.map(({ $ref }) => {
      const { payload } = components.messages[$ref.split("/").pop()];
      return payload.$ref.split("/").pop();
    });
  const parts = [
    "// Made from asyncapi.yaml by generate.mjs; do not edit.\n",
    `/** What a client sends. */\nexport type Command = ${names(operations.takeCommand).join(" | ")};\n`,
    `/** What the server sends. */\nexport type Message = ${names(operations.tell).join(" | ")};\n`,
    "/** Why the server closes a connection, by its code. */",
    `export const CLOSE_CODES = ${codes(channels.play["x-close-codes"])} as const;\n`,
    "/** The house's limits, as they are by default. */",
    `export const LIMITS = ${JSON.stringify(channels.play["x-limits"], null, 2)} as const;\n`,
  ];
  for (const [name, schema] of Object.entries(components.schemas)) parts.push(named(name, schema));
  return parts.join("\n");
}

function codes(list) {
  const lines = list.map(({ code, name }) => `  ${name}: ${code},`);
  return `{\n${lines.join("\n")}\n}`;
}

/** Returns the players' operations, each under its method and path, and the schemas that they refer to. */
function rest({ paths, components }) {
  const wanted = new Set();
  const operations = [];
  const open = [];
  const look = (value) => {
    if (Array.isArray(value)) return value.forEach(look);
    if (value === null || typeof value !== "object") return;
    for (const [key, part] of Object.entries(value)) {
      if (key !== "$ref") look(part);
      else if (part.startsWith("#/components/schemas/")) want(part.split("/").pop());
    }
  };
  const want = (name) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    look(components.schemas[name]);
  };
  want("Problem");
  for (const [path, item] of Object.entries(paths)) {
    if (path.startsWith("/v1/operator/") || !path.startsWith("/v1/")) continue;
    for (const [method, operation] of Object.entries(item)) {
      const { requestBody, responses, security = [] } = operation;
      const parameters = (operation.parameters ?? []).map(
        ({ $ref, ...own }) => ($ref ? components.parameters[$ref.split("/").pop()] : own),
      );
      const of = (place) => parameters.filter((parameter) => parameter.in === place);
      const body = requestBody?.content?.["application/json"]?.schema;
      const answers = Object.entries(responses)
        .filter(([status]) => status.startsWith("2"))
        .map(([, { content }]) => content?.["application/json"]?.schema);
      look([...parameters.map(({ schema }) => schema), body, answers]);
      const answer = answers.map((schema) => (schema ? type(schema, "    ") : "null"));
      const fields = [
        `path: ${parametersOf(of("path"))};`,
        `query: ${parametersOf(of("query"))};`,
        `headers: ${parametersOf(of("header"))};`,
        `body: ${body ? type(body, "    ") : "undefined"};`,
        `answer: ${[...new Set(answer)].join(" | ") || "null"};`,
      ];
      const { summary } = operation;
      const key = JSON.stringify(`${method.toUpperCase()} ${path}`);
      if (security.length === 0) open.push(`  ${key},`);
      operations.push(`${doc(summary, "  ")}  ${key}: {\n    ${fields.join("\n    ")}\n  };`);
    }
  }
  const parts = [
    "// Made from openapi.yaml by generate.mjs; do not edit.\n",
    "/** Every operation of players: what it takes and what it answers with. */",
    `export interface Operations {\n${operations.join("\n")}\n}\n`,
    "/** What anybody may ask, without a token. */",
    `export const OPEN: ReadonlySet<string> = new Set<keyof Operations>([\n${open.join("\n")}\n]);\n`,
  ];
  for (const [name, schema] of Object.entries(components.schemas)) {
    if (wanted.has(name)) parts.push(named(name, schema));
  }
  return parts.join("\n");
}

function parametersOf(list) {
  if (list.length === 0) return "undefined";
  const fields = list.map(
    ({ name, required, schema }) => `${property(name)}${required ? "" : "?"}: ${type(schema, "    ")}`,
  );
  return `{ ${fields.join("; ")} }`;
}

function named(name, schema) {
  const about = doc(schema.description, "");
  const is_record = schema.type === "object" && schema.properties && !schema.oneOf && !schema.allOf;
  const id = identifier(name);
  return is_record
    ? `${about}export interface ${id} ${type(schema, "")}\n`
    : `${about}export type ${id} = ${type(schema, "")};\n`;
}

/** Returns the TypeScript type of a schema. */
function type(schema, indent) {
  if (schema === true || Object.keys(schema).length === 0) return "unknown";
  if (schema.$ref) return identifier(schema.$ref.split("/").pop());
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const own = { ...schema };
  for (const key of ["oneOf", "anyOf", "allOf"]) delete own[key];
  const all = schema.allOf?.map((part) => type(part, indent)) ?? [];
  const any = schema.oneOf ?? schema.anyOf;
  if (any) all.push(`(${union(any.map((part) => type(part, indent)))})`);
  if (all.length > 0) {
    if (schema.properties) all.push(record(own, indent));
    return all.join(" & ");
  }
  const kinds = [schema.type].flat();
  return union(kinds.map((kind) => plain(kind, schema, indent)));
}

function plain(kind, schema, indent) {
  switch (kind) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array": {
      const { items, prefixItems } = schema;
      const tuple = prefixItems ?? (Array.isArray(items) ? items : null);
      if (tuple) return `readonly [${tuple.map((part) => type(part, indent)).join(", ")}]`;
      return `readonly ${inParentheses(type(items ?? true, indent))}[]`;
    }
    case "object":
    case undefined:
      return record(schema, indent);
    default:
      throw new Error(`unknown type ${kind}`);
  }
}

function record({ properties = {}, required = [], additionalProperties }, indent) {
  const names = Object.keys(properties);
  if (names.length === 0) {
    const values = additionalProperties && additionalProperties !== true ? additionalProperties : true;
    return `Readonly<Record<string, ${type(values, indent)}>>`;
  }
  const inner = `${indent}  `;
  const fields = names.map((name) => {
    const mark = required.includes(name) ? "" : "?";
    const about = doc(properties[name].description, inner);
    return `${about}${inner}readonly ${property(name)}${mark}: ${type(properties[name], inner)};`;
  });
  return `{\n${fields.join("\n")}\n${indent}}`;
}

function union(types) {
  return [...new Set(types)].join(" | ");
}

function inParentheses(text) {
  return /^[\w.]+$/.test(text) ? text : `(${text})`;
}

function identifier(name) {
  return name.replace(/[^\w]/g, "_");
}

function property(name) {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function doc(text, indent) {
  if (!text) return "";
  const lines = text.trim().replaceAll("*/", "* /").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  const inner = lines.map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${inner.join("\n")}\n${indent} */\n`;
}
