import { beforeAll, describe, expect, test } from "@jest/globals";
import type { GraphQLField } from "graphql";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { operationsOf, variables } from "../support/operations";
import { buildWorld, type World } from "../support/world";

const running = useApp();
let world: World;
beforeAll(async () => {
  world = await buildWorld(running.api);
});

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const fieldsOf = (kind: "query" | "mutation"): Record<string, GraphQLField<unknown, unknown>> =>
  (kind === "query" ? schema.getQueryType() : schema.getMutationType())!.getFields();

/** Arguments that name the record of a root field. */
const NAMING = ["id", "assistantId", "workflowId", "deliveryId", "fileId"];
const cases = operationsOf(schema).flatMap(({ kind, name, text }) => {
  if (kind === "subscription") return [];
  const naming = fieldsOf(kind)
    [name]!.args.map((arg) => arg.name)
    .find((arg) => NAMING.includes(arg));
  return naming === undefined ? [] : [{ kind, name, text, naming }];
});

const OF_VISITORS = { Query: "widget { __typename }", Mutation: "startWidgetChat(input: {}) { __typename }" };
const OF_KEYS = {
  Query: "organization { __typename }",
  Mutation: 'createProject(input: { name: "Bea" }) { __typename }',
};

describe("a wrong id leaves the other fields of a document their data:", () => {
  test.each(cases)("$name", async ({ kind, name, text, naming }) => {
    const isWidget = name.includes("Widget") || name.startsWith("widget");
    const api = isWidget ? running.api.as({ Authorization: `Bearer ${world.visitorToken}` }) : running.api;
    const sibling = (isWidget ? OF_VISITORS : OF_KEYS)[kind === "query" ? "Query" : "Mutation"];
    const both = text.replace("{", `{ before: ${sibling}`).replace(/\}$/, `after: ${sibling} }`);
    const { status, body } = await api.graphql(both, { ...variables[name]!(world), [naming]: UNKNOWN_ID });
    const { __typename } = body.data.before;
    expect(body).toMatchObject({
      errors: [{ path: [name] }],
      data: { before: { __typename }, [name]: null, after: { __typename } },
    });
    expect([status, body.errors]).toEqual([200, [expect.anything()]]);
  });
});

test("Mutations run in order, each with its result or its error, and what succeeded stays stored", async () => {
  const id = await newAssistant(running.api);
  const { body } = await running.api.graphql(
    `mutation ($id: ID!, $unknown: ID!) {
      first: updateAssistant(id: $id, input: { name: "First", description: "kept" }) { name }
      refused: updateAssistant(id: $id, input: { name: "" }) { name }
      unknown: updateAssistant(id: $unknown, input: { name: "Unknown" }) { name }
      last: updateAssistant(id: $id, input: { name: "Last" }) { name description }
    }`,
    { id, unknown: UNKNOWN_ID },
  );
  expect(body.data).toEqual({
    first: { name: "First" },
    refused: null,
    unknown: null,
    last: { name: "Last", description: "kept" },
  });
  expect(
    body.errors.map(({ path, extensions }: { path: string[]; extensions: object }) => [path, extensions]),
  ).toEqual([
    [["refused"], expect.objectContaining({ code: "BAD_USER_INPUT" })],
    [["unknown"], expect.objectContaining({ code: "ASSISTANT_NOT_FOUND" })],
  ]);
  expect(await running.api.get(`/rest/v1/assistants/${id}`, 200)).toMatchObject({ name: "Last" });
});
