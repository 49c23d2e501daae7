import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import {
  buildSchema,
  getNamedType,
  isEnumType,
  isObjectType,
  isScalarType,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
  type GraphQLObjectType,
} from "graphql";
import * as selections from "../../src/cli/folder/selections";

const schema = buildSchema(readFileSync(join(__dirname, "../../schema/schema.graphql"), "utf8"));

/** The type of the records that each selection reads; those that are whole documents have none. */
const TYPES: Readonly<Record<keyof typeof selections, string | undefined>> = {
  ORGANIZATION: undefined,
  SETTINGS: undefined,
  TELEPHONY: "TelephonyConnection",
  DEPLOYMENT: "Deployment",
  WORKFLOW: "Workflow",
  ASSISTANT: "Assistant",
  VERSION: "AssistantVersion",
  PROJECT: "Project",
  DESTINATION: "WebhookDestination",
  KEY: "Key",
  FILE: "File",
  END_USER: "EndUser",
  ENTRY: "LogEntry",
  LOG: "Log",
  CALL: "Call",
};

/** Fields of exported types that an export leaves out, because others have their values. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  Organization: ["analyticUrl", "warnings"],
  Assistant: ["chats", "configurationWarnings", "log", "logs", "template", "versions"],
  AssistantDraft: ["assistantId", "configurationWarnings", "variables"],
  AssistantVersion: ["variables"],
  AttachedFile: ["detectedType", "name", "size"],
  VoiceConfiguration: ["id"],
  SmsConfiguration: ["id"],
  ChatConfiguration: ["id"],
  ThemeConfiguration: ["id"],
  Retention: ["id"],
  Deployment: ["telephonyConnection"],
  Workflow: ["deployments", "problems"],
  WorkflowNode: ["workflowId"],
  WorkflowEdge: ["toolName", "workflowId"],
  Project: ["assistants", "webhookDestinations"],
  WebhookDestination: ["deliveries"],
  File: ["organizationId", "url"],
  LogEntry: ["durationSeconds"],
  Log: ["chat", "createdAt", "id", "lengthSeconds", "type", "version"],
  Chat: [
    ...["assistant", "assistantId", "channel", "endedReason", "id", "label", "log", "messages", "metadata"],
    ...["recordingUrl", "startedAt", "status", "version", "workflow", "workflowNode", "deployment"],
  ],
  Call: ["assistant", "chat", "log", "workflow", "deployment"],
  EndUser: ["chats", "id"],
};

/** The fields that the documents of an export read, by type. */
function fieldsRead(): Map<string, Set<string>> {
  const read = new Map<string, Set<string>>();
  for (const [name, type] of Object.entries(TYPES)) {
    const text = selections[name as keyof typeof selections];
    const document = parse(type === undefined ? text : `fragment Read on ${type} { ${text} }`);
    const problems = validate(schema, document).filter(({ message }) => !message.includes("is never used"));
    expect([name, problems]).toEqual([name, []]);
    const info = new TypeInfo(schema);
    const enter = (node: { readonly name: { readonly value: string } }) => {
      const parent = info.getParentType()!.name;
      read.set(parent, (read.get(parent) ?? new Set()).add(node.name.value));
    };
    visit(document, visitWithTypeInfo(info, { Field: { enter } }));
  }
  return read;
}

/** Types of which only the id is read: the records stand in files of their own. */
const isReference = (fields: ReadonlySet<string>) => fields.size === 1 && fields.has("id");

test("an export reads every field of the types that it exports, except those that are listed here", () => {
  const missing: Record<string, readonly string[]> = {};
  for (const [name, fields] of fieldsRead()) {
    if (name === "Query" || isReference(fields)) continue;
    const type = schema.getType(name) as GraphQLObjectType;
    const left = Object.keys(type.getFields()).filter((field) => !fields.has(field));
    if (left.length > 0) missing[name] = left.sort();
  }
  const expected = Object.entries(LEFT_OUT).map(([name, fields]) => [name, [...fields].sort()]);
  expect(missing).toEqual(Object.fromEntries(expected));
});

/** Types of the queries that no export reads: they are computed, belong to the operator, or pass. */
const NOT_EXPORTED = [
  ...["Analytics", "AssistantPage", "AuditEventConnection", "AuditHead", "ChatConnection", "CallConnection"],
  ...["Chat", "Delivery", "DocumentChange", "EndUserExport", "EndUserExportConnection", "ErasureConnection"],
  ...["Event", "EventConnection", "FileDownload", "ForgetReceipt", "Widget", "WidgetChat"],
];

test("every query returns a type that an export reads, or one that is listed here", () => {
  const read = new Set(fieldsRead().keys());
  const lists = new Set([...read].flatMap((name) => [name, `${name}Connection`, `${name}Page`]));
  const others = Object.values(schema.getQueryType()!.getFields()).flatMap(({ type }) => {
    const named = getNamedType(type);
    const isRead = lists.has(named.name) || isScalarType(named) || isEnumType(named);
    return isRead || !isObjectType(named) ? [] : [named.name];
  });
  const expected = NOT_EXPORTED.filter((name) => !lists.has(name));
  expect([...new Set(others)].sort()).toEqual(expected.sort());
});
