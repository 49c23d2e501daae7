import { beforeAll, describe, expect, test } from "@jest/globals";
import { getNamedType, isInputObjectType, isScalarType, type GraphQLInputType } from "graphql";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { useApp } from "../support/app";
import { withoutId } from "../support/errors";
import { operationsOf, run, variables } from "../support/operations";
import { buildWorld, namedBy, unknownWorld, type World } from "../support/world";

type Example = (world: World) => Record<string, unknown>;

/** Examples that name records besides those of the operations' main examples. */
const MORE: Readonly<Record<string, readonly Example[]>> = {
  calls: [
    ({ assistantId, workflowId, deploymentId }) => ({ filter: { assistantId, workflowId, deploymentId } }),
  ],
  events: [({ assistantId, chatId }) => ({ filter: { assistantId, chatId } })],
  auditEvents: [
    ({ keyId }) => ({ first: 5, filter: { keyId } }),
    ({ assistantId: recordId }) => ({ first: 5, filter: { recordId } }),
  ],
  createKey: [({ assistantId }) => ({ input: { type: "SECRET", assistantIds: [assistantId] } })],
  assistants: [({ projectId }) => ({ projectId })],
  webhookDestinations: [({ projectId }) => ({ projectId })],
  webhookDestinationsConnection: [({ projectId }) => ({ projectId })],
  importAssistant: [
    ({ projectId }) => ({ input: { id: "imported", name: "Bea", projectId } }),
    ({ fileId }) => ({ input: { id: "imported", name: "Bea", fileIds: [fileId] } }),
  ],
  importAssistantDraft: [
    ({ assistantId, fileId }) => ({
      assistantId,
      input: { basedOn: 1, updatedAt: "2022-01-01T00:00:00Z", fileIds: [fileId] },
    }),
  ],
  importWorkflow: [
    ({ projectId, assistantId }) => ({
      input: {
        ...{ id: "imported", name: "Bea", projectId, edges: [] },
        nodes: [{ id: "imported", type: "PROMPT", name: "Ask", assistantId }],
      },
    }),
  ],
  importDeployment: [
    ({ projectId, workflowId }) => ({ input: { id: "imported", type: "API", projectId, workflowId } }),
    ({ assistantId, connectionId: telephonyConnectionId }) => ({
      input: { id: "imported", type: "SMS", assistantId, telephonyConnectionId },
    }),
  ],
  importKey: [
    ({ assistantId }) => ({
      input: { id: "limited", value: "a_limited_key_of_another_service", assistantIds: [assistantId] },
    }),
  ],
  importWebhookDestination: [
    ({ projectId }) => ({
      input: { id: "imported", url: "https://example.com", secret: "changed", projectId },
    }),
  ],
  createAssistant: [({ projectId }) => ({ input: { name: "Bea", projectId } })],
  updateAssistant: [({ assistantId: id, projectId }) => ({ id, input: { projectId } })],
  saveAssistantDraft: [({ assistantId, fileId }) => ({ assistantId, input: { fileIds: [fileId] } })],
  updateAssistantDocument: [
    ({ assistantId, fileId }) => ({ assistantId, input: { fileIds: [fileId] } }),
    ({ assistantId, projectId }) => ({ assistantId, input: {}, settings: { projectId } }),
  ],
  createAssistantFromDocument: [
    ({ projectId, fileId }) => ({ input: { name: "Bea", projectId }, document: { fileIds: [fileId] } }),
  ],
  createWebhookDestination: [
    ({ projectId }) => ({ input: { url: "https://example.com", secret: "changed", projectId } }),
  ],
  updateWebhookDestination: [({ destinationId: id, projectId }) => ({ id, input: { projectId } })],
  replayEvents: [
    ({ destinationId, assistantId, chatId }) => ({
      input: { destinationId, dryRun: true, filter: { assistantId, chatId } },
    }),
  ],
  startChat: [
    ({ workflowId }) => ({ input: { workflowId } }),
    ({ deploymentId }) => ({ input: { deploymentId } }),
  ],
  placeWorkflowCall: [({ deploymentId }) => ({ input: { deploymentId, phoneNumber: "+41445550100" } })],
  startWebCall: [({ workflowId }) => ({ input: { workflowId } })],
  startWidgetSession: [({ deploymentId }) => ({ input: { deploymentId } })],
  updateWorkflow: [({ workflowId: id, projectId }) => ({ id, input: { projectId } })],
  updateWorkflowEdge: [({ edgeId: id, nodeId: fromNodeId }) => ({ id, input: { fromNodeId } })],
  createDeployment: [
    ({ assistantId, connectionId: telephonyConnectionId }) => ({
      input: { type: "SMS", assistantId, telephonyConnectionId },
    }),
  ],
  updateDeployment: [
    ({ deploymentId: id, assistantId }) => ({ id, input: { assistantId, workflowId: null } }),
    ({ deploymentId: id, projectId }) => ({ id, input: { projectId } }),
    ({ deploymentId: id, connectionId: telephonyConnectionId }) => ({ id, input: { telephonyConnectionId } }),
  ],
  updateTelephonyConnection: [
    ({ connectionId: id, assistantId }) => ({ id, input: { assistantIds: [assistantId] } }),
  ],
};

const running = useApp();
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const operations = operationsOf(schema).map((operation) => ({
  ...operation,
  field: schema.getRootType(operation.kind as never)!.getFields()[operation.name]!,
  examples: [variables[operation.name]!, ...(MORE[operation.name] ?? [])],
}));

let world: World;
let stranger: World;
beforeAll(async () => {
  const { api } = await running.otherOrganization();
  [world, stranger] = [await buildWorld(running.api), await buildWorld(api)];
});

/** Paths at which an input names records. */
function idsIn(type: GraphQLInputType, path: string): string[] {
  const named = getNamedType(type);
  if (isScalarType(named) && named.name === "ID") return [path];
  if (!isInputObjectType(named)) return [];
  return Object.values(named.getFields()).flatMap((field) => idsIn(field.type, `${path}.${field.name}`));
}

const pathsIn = (value: unknown, path = ""): string[] =>
  Array.isArray(value)
    ? [path, ...value.flatMap((item) => pathsIn(item, path))]
    : typeof value === "object" && value !== null
      ? [
          path,
          ...Object.entries(value).flatMap(([name, inner]) =>
            pathsIn(inner, path ? `${path}.${name}` : name),
          ),
        ]
      : [path];

test("every id argument of an operation occurs in one of its examples", () => {
  // An unknown chat has no events.
  const without = ["chatEvents after", "widgetChatEvents after"];
  const missing = operations.flatMap(({ name, field, examples }) => {
    const named = examples.flatMap((example) => pathsIn(example(unknownWorld())));
    const taken = field.args.flatMap((arg) => idsIn(arg.type, arg.name));
    return taken.filter((path) => !named.includes(path)).map((path) => `${name} ${path}`);
  });
  expect(missing.filter((path) => !without.includes(path))).toEqual([]);
});

const cases = operations
  .filter(({ name }) => !/widget/i.test(name) || name === "startWidgetSession")
  .flatMap(({ examples, ...operation }) =>
    examples.flatMap((example) => namedBy(example).map((record) => ({ ...operation, example, record }))),
  );

describe.each(cases)("$name with a $record", ({ example, record, field, ...operation }) => {
  const api = () =>
    operation.name === "startWidgetSession"
      ? running.api.as({ "X-API-Key": running.publicKey })
      : running.api;

  test("of another organization fails like an unknown one, with a documented code", async () => {
    const [theirId, noId] = [stranger[record], unknownWorld()[record]];
    const foreign = await run(api(), operation, example({ ...world, [record]: theirId }));
    const unknown = await run(api(), operation, example({ ...world, [record]: noId }));
    expect(withoutId(foreign, theirId)).toEqual(withoutId(unknown, noId));
    if (unknown.code !== undefined)
      expect(field.description).toMatch(new RegExp(`Errors: .*\\b${unknown.code}\\b`));
    else expect(operation.kind).toBe("query"); // reads find nothing
  });
});
