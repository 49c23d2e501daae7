import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputField,
} from "graphql";
import { PERMISSION_OF } from "../../schema/core/access";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { useApp } from "../support/app";
import { UNKNOWN_ID } from "../support/factories";
import { operationsOf, run, variables } from "../support/operations";
import { buildWorld, type World } from "../support/world";

const running = useApp();
let world: World;
beforeAll(async () => {
  world = await buildWorld(running.api);
});

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const isId = ({ type }: GraphQLInputField) => getNamedType(type).name === "ID";

/** Every field of an operation's input that names a record. Filters match nothing instead. */
const cases = operationsOf(schema)
  .filter(({ kind }) => kind === "mutation")
  .flatMap((operation) => {
    const { args } = schema.getMutationType()!.getFields()[operation.name]!;
    return args.flatMap(({ name, type }) => {
      const input = getNullableType(type);
      if (name !== "input" || !isInputObjectType(input)) return [];
      // The id of an imported record is a new one.
      const isImport = PERMISSION_OF[operation.name] === "import";
      const fields = Object.values(input.getFields()).filter(
        (field) => isId(field) && !(isImport && field.name === "id"),
      );
      return fields.map((field) => [operation.name, field.name, { operation, field, fields }] as const);
    });
  });

function apiFor(operation: string) {
  const { api, publicKey } = running;
  if (operation === "startWidgetSession") return api.as({ "X-API-Key": publicKey });
  return operation.includes("Widget") ? api.as({ Authorization: `Bearer ${world.visitorToken}` }) : api;
}

describe("an unknown id in an input is named in `details`", () => {
  test.each(cases)("of %s: %s", async (name, path, { operation, field, fields }) => {
    const given = variables[name]!(world);
    const input = { ...(given.input as Record<string, unknown>) };
    for (const other of fields) if (!isNonNullType(other.type)) delete input[other.name];
    const isList = isListType(getNullableType(field.type));
    input[path] = isList ? [UNKNOWN_ID] : UNKNOWN_ID;
    if (/^(create|import)Deployment$/.test(name) && path !== "assistantId" && path !== "workflowId")
      input.workflowId = world.workflowId;
    const { code, error } = await run(apiFor(name), operation, { ...given, input });
    expect(code).toMatch(/_NOT_FOUND$/);
    const { message, extensions } = error as { message: string; extensions: { details: unknown } };
    expect(extensions.details).toEqual([{ path: `input.${path}${isList ? ".0" : ""}`, message }]);
  });
});

describe("REST names the same field of the body", () => {
  test.each([
    ["/rest/v1/ai-chats", { assistantId: UNKNOWN_ID }, 400, "assistantId"],
    [
      "/rest/v1/ai-chats/messages",
      { aiChatId: UNKNOWN_ID, role: "USER", channel: "TEXT", content: "x", metadata: {} },
      404,
      "aiChatId",
    ],
    ["/rest/v1/call/phone", { assistantId: UNKNOWN_ID, phoneNumber: "+41445550100" }, 400, "assistantId"],
    ["/rest/v2/call/phone", { workflowId: UNKNOWN_ID, phoneNumber: "+41445550100" }, 400, "workflowId"],
    ["/rest/v2/call/phone", { deploymentId: UNKNOWN_ID, phoneNumber: "+41445550100" }, 400, "deploymentId"],
    ["/rest/v1/call/web", { assistantId: UNKNOWN_ID }, 400, "assistantId"],
    ["/rest/v2/call/web", { workflowId: UNKNOWN_ID }, 400, "workflowId"],
  ])("at %s in %j", async (path, body, status, field) => {
    const answer = await running.api.post(path, body, status);
    expect(answer.details).toEqual([{ path: field, message: answer.message }]);
  });

  test("but not an id in the path, which the message quotes", async () => {
    expect(await running.api.get(`/rest/v1/assistants/${UNKNOWN_ID}`, 400)).not.toHaveProperty("details");
  });
});
