// Makes the types of both contracts: src/gen/rest.ts out of openapi.yaml, src/gen/socket.ts out of
// the schemas of asyncapi.yaml. Nothing is written by hand between a contract and its client.
//
//   node generate.mjs OPENAPI_YAML ASYNCAPI_YAML

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

import { compile } from "json-schema-to-typescript";
import openapiTS, { astToString } from "openapi-typescript";
import { parse } from "yaml";

const [openapi, asyncapi] = process.argv.slice(2);
if (!openapi || !asyncapi) throw new Error("usage: node generate.mjs OPENAPI_YAML ASYNCAPI_YAML");
await mkdir("src/gen", { recursive: true });

const rest = await openapiTS(pathToFileURL(openapi));
await writeFile("src/gen/rest.ts", astToString(rest));

const document = parse(await readFile(asyncapi, "utf8"));
const { schemas, messages } = document.components;

// References of the document are to its components; in one schema they are to its definitions.
const local = (value) => {
  if (Array.isArray(value)) return value.map(local);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, part]) => {
    const is_reference = key === "$ref" && typeof part === "string";
    return [key, is_reference ? part.replace("#/components/schemas/", "#/$defs/") : local(part)];
  });
  return Object.fromEntries(entries);
};

// What each side says is what its operation lists.
const payloads = (operation) =>
  operation.messages.map(({ $ref }) => {
    const name = $ref.split("/").pop();
    return { $ref: messages[name].payload.$ref.replace("#/components/schemas/", "#/$defs/") };
  });
const { takeCommand, tell } = document.operations;
const root = {
  title: "Socket",
  type: "object",
  required: ["command", "message"],
  additionalProperties: false,
  properties: {
    command: { title: "Command", oneOf: payloads(takeCommand) },
    message: { title: "Message", oneOf: payloads(tell) },
  },
  $defs: local(schemas),
};
const socket = await compile(root, "Socket", {
  additionalProperties: false,
  bannerComment: "// Made from asyncapi.yaml.",
  format: false,
});
await writeFile("src/gen/socket.ts", socket);
