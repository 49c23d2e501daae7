import { beforeEach, describe, expect, test } from "@jest/globals";
import { QUOTA_EXEMPT, RESIZED } from "../../schema/core/quota-exempt";
import { measureSizes } from "../../src/account/organization/measure-sizes";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat, quietAssistant, say } from "../support/factories";
import { callerOf, targets, textOf } from "../support/targets";
import { VisitorClient } from "../support/visitor";
import { buildWorld, type World } from "../support/world";

const MOST = 3_000_000;
/** Measured when a test requests it. */
const running = useApp({ WORKER: "off", QUOTA_STORED_BYTES: String(MOST) });

let api: Api;
let organizationId: string;
let publicKey: string;
beforeEach(async () => {
  ({ api, organizationId, publicKey } = await running.otherOrganization());
});

/** Bytes of random letters, which do not compress. */
const noise = (bytes: number) =>
  Array.from({ length: bytes / 10 }, () => Math.random().toString(36).slice(2, 12).padEnd(10, "x")).join("");
const forgetMemo = () => running.app.database.scope("").ports.quotas.usage.clear();
/** Measures every organization, however recently it was measured. */
async function measure(): Promise<void> {
  await running.database.query("update stored_sizes set measured_at = null");
  await measureSizes(running.app.database);
  forgetMemo();
}
const sizeOf = async (id: string): Promise<number> => {
  const [row] = await running.database.query<{ bytes: string }>(
    "select bytes from stored_sizes where organization_id = $1",
    [id],
  );
  return Number(row!.bytes);
};
/** Fills the organization's quota with a chat. */
async function fill(chatId: string): Promise<void> {
  for (let sent = 0; sent < MOST; sent += 200_000)
    await say(api, chatId, noise(200_000)).catch(() => undefined);
  forgetMemo();
}
const warnings = async (): Promise<string[]> =>
  (await api.gql("{ organization { warnings } }")).organization.warnings;

describe("stored bytes", () => {
  test("count the rows of every table", async () => {
    const assistantId = await quietAssistant(api);
    const chatId = await newChat(api, assistantId, { variables: { long: noise(100_000) } });
    await measure();
    const before = await sizeOf(organizationId);
    expect(before).toBeGreaterThan(100_000);
    await say(api, chatId, noise(300_000));
    await api.patch(`/rest/v1/assistants/${assistantId}`, { description: noise(200_000) }, 200);
    await measure();
    const after = await sizeOf(organizationId);
    // An event contains the message too.
    expect(after - before).toBeGreaterThan(500_000);
    expect(after - before).toBeLessThan(1_500_000);
  });

  test("are measured in parts, including rows written meanwhile", async () => {
    const rows = `insert into end_users (organization_id, id, assistant_id, unique_id)
      select $1, 'u' || n, $2, 'u' || n from generate_series(1, 12000) n`;
    const assistantId = await newAssistant(api);
    await running.database.query(rows, [organizationId, assistantId]);
    await measure();
    const [row] = await running.database.query<{ bytes: string }>(
      "select sum(28 + pg_column_size(organization_id) + pg_column_size(id) + pg_column_size(assistant_id) + pg_column_size(unique_id)) as bytes from end_users where organization_id = $1",
      [organizationId],
    );
    expect(await sizeOf(organizationId)).toBeGreaterThan(Number(row!.bytes));
    expect(await sizeOf(organizationId)).toBeLessThan(3 * Number(row!.bytes) + 100_000);
  });

  test("over the limit block requests that store something on both interfaces, until something is deleted", async () => {
    const assistantId = await quietAssistant(api);
    const chatId = await newChat(api, assistantId);
    await fill(chatId);
    const message = { aiChatId: chatId, role: "SYSTEM", channel: "TEXT", content: "One more", metadata: {} };
    const refused = [
      await api.request("POST", "/rest/v1/ai-chats/messages", message),
      await api.request("POST", "/rest/v1/assistants", { name: "One more" }),
      await api.request("PATCH", `/rest/v1/assistants/${assistantId}`, { description: "longer" }),
    ];
    for (const { status, body } of refused) {
      expect([status, body.code]).toEqual([403, "QUOTA_EXCEEDED"]);
      expect(body.message).toContain(`limit is ${MOST} stored bytes (QUOTA_STORED_BYTES)`);
    }
    const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
    expect((await api.gqlError(START, { input: { assistantId } })).extensions.code).toBe("QUOTA_EXCEEDED");
    await api.get(`/rest/v1/assistants/${assistantId}`, 200);
    await newAssistant(running.api, { name: "Of another organization" });

    await endChat(api, chatId);
    await api.gql("mutation ($a: ID!, $id: ID!) { deleteLog(assistantId: $a, id: $id) { id } }", {
      a: assistantId,
      id: chatId,
    });
    await measure();
    await newChat(api, assistantId);
  });

  test("cause a warning to the organization from 90 % on", async () => {
    const chatId = await newChat(api, await quietAssistant(api));
    expect(await warnings()).toEqual([]);
    await fill(chatId);
    expect(await warnings()).toEqual([
      expect.stringMatching(/^\d+ % of the organization's limit of 3000000/),
    ]);
  });

  test("are not the only warning: a held installation causes one too, until it is released", async () => {
    const hold =
      "insert into holds (id, reason, note, finished_at) values ('h', 'RESTORED', 'a backup', now())";
    await running.database.query(hold);
    expect(await warnings()).toEqual([expect.stringContaining("is held")]);
    await running.database.query("update holds set released_at = now() where id = 'h'");
    expect(await warnings()).toEqual([]);
  });

  test("over the limit block a visitor's message, and nothing of it is stored", async () => {
    const assistantId = await quietAssistant(api);
    const visitor = await VisitorClient.of(running.url, publicKey, { assistantId });
    const { id } = (await visitor.start()) as { id: string };
    await fill(await newChat(api, assistantId));
    const POST = "mutation ($input: WidgetMessageInput!) { postWidgetMessage(input: $input) { id } }";
    const error = await visitor.api.gqlError(POST, { input: { chatId: id, content: "One more" } });
    expect(error.extensions.code).toBe("QUOTA_EXCEEDED");
    const text = "select 1 from messages where chat_id = $1 and role = 'USER'";
    expect(await running.database.query(text, [id])).toEqual([]);
  });
});

/** Changes of one text of a record by the mutations that replace its values. */
const CHANGES: Readonly<Record<string, (world: World, text: string) => Record<string, unknown>>> = {
  setModelCredential: (_world, apiKey) => ({ input: { provider: "OPENAI", apiKey } }),
  setModelMapping: (_world, name) => ({ input: { model: "GPT_4_O", provider: "OPENAI", name } }),
  replaceWorkflowGraph: ({ workflowId: id }, name) => ({
    id,
    input: { nodes: [{ type: "START", name }], edges: [] },
  }),
  updateAllowedOrigins: ({ assistantId }, name) => ({ assistantId, origins: [`https://${name}.example`] }),
  updateAssistant: ({ assistantId: id }, description) => ({ id, input: { description } }),
  updateChatConfiguration: ({ assistantId }, prompt) => ({ assistantId, input: { prompt } }),
  updateProject: ({ projectId: id }, description) => ({ id, input: { description } }),
  updateRagSettings: ({ assistantId }, ragTriggerTopics) => ({
    ...{ assistantId, channel: "SMS", input: { ragTriggerTopics } },
  }),
  updateSmsConfiguration: ({ assistantId }, prompt) => ({ assistantId, input: { prompt } }),
  updateThemeConfiguration: ({ assistantId }, title) => ({ assistantId, input: { theme: { title } } }),
  updateToolServers: ({ assistantId }, path) => ({
    assistantId,
    servers: [{ name: "crm", url: `https://crm.example/${path}` }],
  }),
  updateVoiceConfiguration: ({ assistantId }, prompt) => ({ assistantId, input: { prompt } }),
  updateWebhookDestination: ({ destinationId: id }, name) => ({ id, input: { name } }),
  updateWidgetChat: ({ visitorChatId: chatId }, text) => ({ input: { chatId, metadata: { text } } }),
  updateWorkflow: ({ workflowId: id }, description) => ({ id, input: { description } }),
  updateWorkflowEdge: ({ edgeId: id }, description) => ({ id, input: { description } }),
  updateWorkflowNode: ({ nodeId: id }, name) => ({ id, input: { name } }),
};

describe("over the limit, a record may become smaller, but not larger:", () => {
  const exhaust = async () => {
    await running.database.query(
      `insert into stored_sizes (organization_id, bytes) values ($1, $2)
       on conflict (organization_id) do update set bytes = $2`,
      [organizationId, MOST],
    );
    forgetMemo();
  };
  const [long, longer, short] = ["x".repeat(50), "x".repeat(60), "x"];

  test.each(Object.keys(RESIZED))("%s", async (name) => {
    const world = await buildWorld(api);
    const caller = callerOf(
      targets.find((target) => target.name === name)!,
      api,
      world,
    );
    const change = (text: string) => caller.graphql(textOf(name), CHANGES[name]!(world, text));
    expect((await change(long)).body.errors).toBeUndefined();
    await exhaust();
    expect((await change(longer)).body.errors?.[0]?.extensions.code).toBe("QUOTA_EXCEEDED");
    expect((await change(long)).body.errors).toBeUndefined();
    expect((await change(short)).body.errors).toBeUndefined();
    expect((await change(long)).body.errors?.[0]?.extensions.code).toBe("QUOTA_EXCEEDED");
  });

  test("new nodes as large as the former ones are allowed, whenever both were made", async () => {
    const world = await buildWorld(api);
    const { workflowId } = world;
    const caller = callerOf(
      targets.find(({ name }) => name === "replaceWorkflowGraph")!,
      api,
      world,
    );
    const replace = () =>
      caller.graphql(textOf("replaceWorkflowGraph"), {
        id: workflowId,
        input: { nodes: [{ type: "START", name: "Start" }], edges: [] },
      });
    expect((await replace()).body.errors).toBeUndefined();
    await running.database.query(
      "update workflow_nodes set created_at = '2026-01-01', updated_at = '2026-01-01' where workflow_id = $1",
      [workflowId],
    );
    await exhaust();
    expect((await replace()).body.errors).toBeUndefined();
  });

  test.each([
    ["", "description"],
    ["/voice", "prompt"],
    ["/sms", "prompt"],
    ["/chat", "prompt"],
    ["/theme", "theme"],
  ])("PATCH /rest/v1/assistants/{id}%s", async (path, field) => {
    const id = await newAssistant(api);
    const change = (text: string) =>
      api.request("PATCH", `/rest/v1/assistants/${id}${path}`, {
        [field]: field === "theme" ? { title: text } : text,
      });
    expect((await change(long)).status).toBe(200);
    await exhaust();
    expect((await change(longer)).body.code).toBe("QUOTA_EXCEEDED");
    expect((await change(short)).status).toBe(200);
    const read = await api.get(`/rest/v1/assistants/${id}${path}`, 200);
    expect(JSON.stringify(read[field])).toContain(short);
  });

  test("a switch can be turned off and on, and an optional value removed", async () => {
    const id = await newAssistant(api, { name: "Ada", description: "some" });
    await exhaust();
    for (const chatMode of [false, true])
      await api.patch(`/rest/v1/assistants/${id}/chat`, { chatMode }, 200);
    await api.patch(`/rest/v1/assistants/${id}`, { description: null }, 200);
    const CLEAR = "mutation { setModelMapping(input: { model: GPT_4_O }) { model } }";
    await api.gql(CLEAR);
  });
});

test("mutations exempt from the quota exist and are called in these tests", () => {
  for (const name of Object.keys(QUOTA_EXEMPT)) expect(textOf(name)).toContain(name);
});
