import { beforeAll, describe, expect, test } from "@jest/globals";
import { isObjectType } from "graphql";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { useApp } from "../support/app";
import { endChat, newChat, quietAssistant, UNKNOWN_ID } from "../support/factories";

const running = useApp();
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
let assistant: string;
beforeAll(async () => {
  assistant = await quietAssistant(running.api);
  await newChat(running.api, assistant, { uniqueId: "ada" });
  await running.api.post("/rest/v1/settings", { url: "https://example.com/events", secret: "shared" }, 201);
});

/** A document for every list that continues after a cursor. */
const LISTS: Readonly<Record<string, string>> = {
  "Assistant.chats":
    "query ($after: String, $id: ID!) { assistant(id: $id) { chats(after: $after) { nodes { id } } } }",
  "Assistant.logs": "query ($after: String, $id: ID!) { assistant(id: $id) { logs(after: $after) { id } } }",
  "Assistant.versions":
    "query ($after: String, $id: ID!) { assistant(id: $id) { versions(after: $after) { nodes { id } } } }",
  "EndUser.chats":
    'query ($after: String) { endUser(uniqueId: "ada") { chats(after: $after) { nodes { id } } } }',
  "Query.auditEvents": "query ($after: String) { auditEvents(after: $after) { nodes { operation } } }",
  "Query.calls": "query ($after: String) { calls(after: $after) { nodes { id } } }",
  "Query.chats": "query ($after: String) { chats(after: $after) { nodes { id } } }",
  "Query.deploymentsConnection":
    "query ($after: String) { deploymentsConnection(after: $after) { nodes { id } } }",
  "Query.endUserExports": "query ($after: String) { endUserExports(after: $after) { nodes { id } } }",
  "Query.endUsers": "query ($after: String) { endUsers(after: $after) { nodes { id } } }",
  "Query.erasures": "query ($after: String) { erasures(after: $after) { nodes { id } } }",
  "Query.events": "query ($after: String) { events(after: $after) { nodes { id } } }",
  "Query.keysConnection": "query ($after: String) { keysConnection(after: $after) { nodes { id } } }",
  "Query.logs": "query ($after: String) { logs(after: $after) { nodes { id } } }",
  "Query.projectsConnection": "query ($after: String) { projectsConnection(after: $after) { nodes { id } } }",
  "Query.telephonyConnectionsConnection":
    "query ($after: String) { telephonyConnectionsConnection(after: $after) { nodes { id } } }",
  "Query.webhookDestinationsConnection":
    "query ($after: String) { webhookDestinationsConnection(after: $after) { nodes { id } } }",
  "Query.workflowsConnection":
    "query ($after: String) { workflowsConnection(after: $after) { nodes { id } } }",
  "WebhookDestination.deliveries":
    "query ($after: String) { webhookDestinations { deliveries(after: $after) { nodes { id } } } }",
};
/**
 * The audit log and the versions of an assistant refuse every unknown cursor, all other lists those that hold no time of
 * creation.
 */
const PERMANENT = ["Query.auditEvents", "Assistant.versions"];

test("every list with a cursor is tried", () => {
  const found = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type)
      ? Object.values(type.getFields()).flatMap(({ name, args }) =>
          args.some((arg) => arg.name === "after" && String(arg.type) === "String")
            ? `${type.name}.${name}`
            : [],
        )
      : [],
  );
  expect(found.sort()).toEqual(Object.keys(LISTS));
});

describe.each(Object.entries(LISTS))("%s", (name, query) => {
  const cursors = ["00000000-0000-4000-8000-000000000000", "abc", "99999999"];
  test.each([...cursors, ...(PERMANENT.includes(name) ? [UNKNOWN_ID] : [])])(
    "refuses the unknown cursor %s",
    async (after) => {
      const { api } = running;
      const id = query.includes("$id") ? { id: assistant } : {};
      const { extensions } = await api.gqlError(query, { after, ...id });
      const expected = name === "Assistant.logs" ? "the id of a log" : "a cursor of another page";
      const message = `must be ${expected}; got "${after}"`;
      expect(extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "after", message }] });
    },
  );
});

test("logs on REST refuse an unknown cursor", async () => {
  const { details } = await running.api.get(`/rest/v1/assistants/${assistant}/logs?after=foo`, 400);
  expect(details).toEqual([{ path: "after", message: 'must be the id of a log; got "foo"' }]);
});

test("a list continues after an entry that has been removed", async () => {
  const { api } = running;
  const [older, newer] = [await newChat(api, assistant), await newChat(api, assistant)];
  await endChat(api, newer);
  await api.gql(
    "mutation ($assistantId: ID!, $id: ID!) { deleteLog(assistantId: $assistantId, id: $id) { id } }",
    {
      assistantId: assistant,
      id: newer,
    },
  );
  const { logs } = (await api.gql(LISTS["Query.logs"]!, { after: newer })) as {
    logs: { nodes: { id: string }[] };
  };
  expect(logs.nodes[0]).toEqual({ id: older });
});
