import { expect, test } from "@jest/globals";
import pg from "pg";
import { newId } from "../../src/platform/database/values/ids";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useApp();
const CHANNELS = ["parley_events", "parley_chats", "parley_deliveries", "jobs:insert"];

/** Collects notifications like another server. */
async function listen(...channels: string[]): Promise<pg.Notification[]> {
  const heard: pg.Notification[] = [];
  const client = new pg.Client({ connectionString: running.database.ownerUrl });
  await client.connect();
  afterTest(() => client.end());
  client.on("notification", (notification) => heard.push(notification));
  for (const channel of channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
  return heard;
}

test("servers hear of a change after its commit, in order, and nothing of one that was rolled back", async () => {
  const heard = await listen("a_channel");
  const scope = running.app.database.scope(newId());
  const fails = scope.transaction(async (scope) => {
    scope.announce("a_channel", { name: "rolled back" });
    await scope.table("assistants");
    throw new Error("It fails.");
  });
  await expect(fails).rejects.toThrow("It fails.");
  await scope.transaction(async (scope) => {
    scope.announce("a_channel", { name: "in a transaction" });
    running.app.database.scope(scope.organizationId).announce("a_channel", { name: "before its commit" });
    await scope.table("assistants");
  });
  scope.announce("a_channel", { name: "last" });
  await until(() => heard.length === 3);
  const names = heard.map(({ payload }) => (JSON.parse(payload!) as { name: string }).name);
  expect(names).toEqual(["before its commit", "in a transaction", "last"]);
});

test("messages, their deliveries and jobs are told by the connection for notifications, in no transaction that writes", async () => {
  const heard = await listen(...CHANNELS);
  const { api, database } = running;
  await api.post("/rest/v1/settings", { url: "http://127.0.0.1:9/", secret: "s" }, 201);
  const assistantId = await newAssistant(api);
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  const { startChat } = await api.gql(start, { input: { assistantId } });
  const message = { aiChatId: startChat.id, role: "USER", channel: "TEXT", content: "Hello?", metadata: {} };
  await api.post("/rest/v1/ai-chats/messages", message, 201);
  await until(() => CHANNELS.every((name) => heard.some(({ channel }) => channel === name)));
  const [listener] = await database.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name like 'parley listener%'",
  );
  expect(new Set(heard.map(({ processId }) => processId))).toEqual(new Set([listener!.pid]));
});
