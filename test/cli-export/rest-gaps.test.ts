import { expect, test } from "@jest/globals";
import { isObjectType } from "graphql";
import { NEVER_GIVEN } from "../../src/cli/import/rest";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));

/** The value is imported from the documented interface, or follows from what is imported. */
const KEPT = "kept";

/** Every field of a record, with `KEPT` if `import rest` keeps it, or else the sentence of the report that names it. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, typeof KEPT | RegExp>>>> = {
  Assistant: {
    ...{ id: KEPT, name: KEPT, description: KEPT, variables: KEPT, template: KEPT },
    ...{ voice: KEPT, sms: KEPT, chat: KEPT, theme: KEPT, configurationWarnings: KEPT },
    ...{ chats: KEPT, log: KEPT, logs: KEPT },
    ...{ createdAt: /Creation times of assistants/, updatedAt: /Times of the last changes of assistants/ },
    ...{ key: /assistants.* keys in files/, project: /assistants.* projects/, draft: /assistants.* drafts/ },
    ...{ version: /assistants.* versions/, versions: /assistants.* versions with their notes/ },
    ...{ files: /assistants.* attached files/, toolServers: /assistants.* tool servers/ },
    missingVariables: /assistants.* missingVariables/,
  },
  ThemeConfiguration: { id: KEPT, theme: KEPT, mode: KEPT, allowedOrigins: /assistants.* allowed origins/ },
  Organization: {
    id: /id, .*: records have that of the organization here/,
    name: /organization.* name/,
    requireSignedIdentity: /organization.* requireSignedIdentity/,
    retention: /organization.* retention/,
    ...{ analyticUrl: KEPT, warnings: KEPT },
  },
  WebhookDestination: {
    ...{ id: KEPT, url: KEPT, name: KEPT, secret: KEPT, events: KEPT, createdAt: KEPT, updatedAt: KEPT },
    key: /webhook destinations.* keys in files/,
    enabled: /webhook destinations.* disabled/,
    project: /projects with their webhook destinations/,
    deliveries: /past events and deliveries/,
  },
  Key: {
    ...{ id: KEPT, value: KEPT, type: KEPT, status: KEPT, name: KEPT, expiresAt: KEPT },
    ...{ permissions: KEPT, assistantIds: KEPT },
    createdAt: /creation times of API keys/i,
    lastUsedAt: /last uses/,
  },
  File: {
    ...{ id: KEPT, name: KEPT, mimeType: KEPT, detectedType: KEPT, size: KEPT, metadata: KEPT },
    ...{ createdAt: KEPT, organizationId: KEPT, url: KEPT },
  },
  Log: {
    ...{ id: KEPT, chat: KEPT, createdAt: KEPT, customerMetadata: KEPT, messages: KEPT, metadata: KEPT },
    ...{ recordingUrl: KEPT, type: KEPT },
    lengthSeconds: /conversations.* calls with their times/,
    version: /conversations.* versions/,
  },
  Chat: {
    ...{
      id: KEPT,
      assistant: KEPT,
      assistantId: KEPT,
      channel: KEPT,
      label: KEPT,
      log: KEPT,
      messages: KEPT,
    },
    ...{ startedAt: KEPT, endedAt: KEPT, endedReason: KEPT, status: KEPT, greeting: KEPT, user: KEPT },
    ...{ metadata: KEPT, phoneNumber: KEPT, recordingUrl: KEPT },
    ...{ assistantVersion: /conversations.* versions/, version: /conversations.* versions/ },
    ...{ versions: /conversations.* versions/, draft: /conversations.* drafts/ },
    ...{ variables: /conversations.* variables/, deployment: /conversations.* deployments/ },
    ...{ workflow: /conversations.* workflows/, workflowNode: /conversations.* workflows/ },
    ...{ workflowId: /conversations.* workflows/, workflowNodeId: /conversations.* workflows/ },
    ...{ deploymentId: /conversations.* deployments/ },
  },
};

test("import rest keeps each field of a record, or lists it", () => {
  const said = [
    ...NEVER_GIVEN,
    "The organization's id, 1: records have that of the organization here.",
    "Creation times of assistants: they are in the same order, but were created now.",
    "Times of the last changes of assistants: the source does not show them.",
    "Creation times of API keys: they are in the same order, but were created now.",
  ];
  for (const [name, fields] of Object.entries(FIELDS)) {
    const type = schema.getType(name);
    if (!isObjectType(type)) throw new Error(`There is no type ${name}.`);
    expect([name, Object.keys(fields).sort()]).toEqual([name, Object.keys(type.getFields()).sort()]);
    const missing = Object.entries(fields).filter(
      ([, place]) => place !== KEPT && !said.some((sentence) => place.test(sentence)),
    );
    expect([name, missing]).toEqual([name, []]);
  }
});

/** Records that belong to an organization: the queries that list them. */
test.each([
  ["telephonyConnections", /phone numbers/],
  ["projects", /projects/],
  ["workflows", /workflows/],
  ["deployments", /deployments/],
  ["modelCredentials", /credentials of models/i],
  ["modelMappings", /mappings of models/i],
  ["events", /past events/],
  ["auditEvents", /audit log/],
  ["erasures", /erasures/],
  ["endUserExports", /exports of people/],
  ["endUser", /remember of people/],
])("import rest says that it takes over no %s", (query, words) => {
  expect(schema.getQueryType()!.getFields()).toHaveProperty(query);
  expect(NEVER_GIVEN.join("\n")).toMatch(words);
});
