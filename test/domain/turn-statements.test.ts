import { AsyncLocalStorage } from "node:async_hooks";
import { beforeAll, expect, test } from "@jest/globals";
import type { Knex } from "knex";
import { takeTurn } from "../../src/conversation/turns/turn";
import { useApp } from "../support/app";
import { newAssistant, newChat, say } from "../support/factories";

/** The test takes the turns itself. */
const running = useApp({ WORKER: "off" });
const statements = new AsyncLocalStorage<string[]>();
let organizationId: string;

beforeAll(async () => {
  // Every statement passes through the events of the pool, which is private to the service.
  const { knex } = running.app.database as unknown as { readonly knex: Knex };
  knex.on("query", ({ sql }: { sql: string }) => void statements.getStore()?.push(sql));
  ({ id: organizationId } = await running.api.get("/rest/v1/organization", 200));
});

/** The statements of a turn of a chat. */
async function turnOf(chatId: string): Promise<string[]> {
  await say(running.api, chatId, "Is there parking?", "USER");
  const sent: string[] = [];
  await statements.run(sent, () => takeTurn(running.app.database.scope(organizationId), chatId, true));
  return sent;
}

/** The fewest statements of three turns: what the process remembers of quotas expires between some. */
async function fewestOf(chatId: string): Promise<string[]> {
  const turns = [await turnOf(chatId), await turnOf(chatId), await turnOf(chatId)];
  return turns.reduce((fewest, turn) => (turn.length < fewest.length ? turn : fewest));
}

test("a turn of the current version costs as many statements as one without a version", async () => {
  const assistantId = await newAssistant(running.api);
  const body = { initialMessage: "", resources: "Parking is free." };
  await running.api.patch(`/rest/v1/assistants/${assistantId}/chat`, body, 200);
  const [pinned, following] = [
    await newChat(running.api, assistantId),
    await newChat(running.api, assistantId),
  ];
  await running.database.query("update chats set assistant_version = null where id = $1", [following]);
  const without = await fewestOf(following);
  expect(without.length).toBeGreaterThan(3);
  expect(await fewestOf(pinned)).toHaveLength(without.length);

  await running.api.patch(`/rest/v1/assistants/${assistantId}/chat`, { prompt: "Be brief." }, 200);
  const former = await fewestOf(pinned);
  expect(former.filter((sql) => sql.includes("assistant_versions"))).toHaveLength(1);
  expect(former.length).toBeLessThanOrEqual(without.length + 2);
});
