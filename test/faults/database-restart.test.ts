import type { ServerResponse } from "node:http";
import { expect, test } from "@jest/globals";
import { startEmbedded } from "../../src/platform/database/embedded/embedded";
import { newChat, quietAssistant, say } from "../support/factories";
import { Receiver } from "../support/receiver";
import { afterTest, emptyFolder, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";
import { until } from "../support/until";
import { stubModel } from "../support/stub-model";

const MESSAGES = `query ($id: ID!) { chat(id: $id) { messages(last: 50) { role content } } }`;
const EVENTS = `{ events(first: 100) { nodes { id } } }`;

test(
  "turns and deliveries interrupted by a restart of the database are completed, and new ones work",
  async () => {
    const dataDir = emptyFolder();
    const start = () => startEmbedded({ dataDir, log: () => undefined, flags: ["fsync=off"] });
    let database = await start();
    afterTest(() => database.stop());
    let goOn = () => undefined as void;
    const away = new Promise<void>((resolve) => (goOn = resolve));
    let goOnLater = () => undefined as void;
    const back = new Promise<void>((resolve) => (goOnLater = resolve));
    const model = await stubModel(
      { text: ["Answered while ", "it was away."], held: away },
      { text: ["Answered when ", "it was back."], held: back },
      { text: ["Asked again."] },
    );
    afterTest(model.stop);
    let held: ServerResponse | undefined;
    const receiver = await new Receiver((res, { body }, number) => {
      if (number > 1 || body.event !== "session-start") res.end("ok");
      else held = res;
    }).start();
    afterTest(() => receiver.stop());
    const { api } = await startServer({
      ...SETTINGS,
      DATABASE_URL: database.url,
      OUTBOUND_ALLOW: "127.0.0.0/8",
      TAKEOVER_SECONDS: "4",
      OPENAI_API_KEY: "sk-test-1234",
      OPENAI_BASE_URL: model.url,
    });
    await api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    const assistantId = await quietAssistant(api);
    const chats: string[] = [];
    for (let n = 1; n <= 2; n++) {
      chats.push(await newChat(api, assistantId));
      await say(api, chats.at(-1)!, `Question ${n}`, "USER");
      await until(() => model.asked.length === n);
    }
    await until(() => held !== undefined);

    await database.stop();
    held!.end("ok");
    goOn();
    // Once readiness fails, the server has noticed the absence of the database everywhere.
    await until(async () => (await api.request("GET", "/health/ready")).status === 503);
    database = await start();
    await until(async () => (await api.request("GET", "/health/ready")).status === 200);
    goOnLater();

    const messages = async (id: string) =>
      (await api.gql(MESSAGES, { id })).chat.messages as { role: string; content: string }[];
    for (const [index, chatId] of chats.entries()) {
      await until(async () => (await messages(chatId)).length > 1);
      const [question, answer, ...more] = await messages(chatId);
      expect(question).toEqual({ role: "USER", content: `Question ${index + 1}` });
      expect(answer!.role).toBe("ASSISTANT");
      expect(["Answered while it was away.", "Answered when it was back.", "Asked again."]).toContain(
        answer!.content,
      );
      expect(more).toEqual([]);
    }
    await say(api, chats[0]!, "And now?", "USER");
    await until(async () => (await messages(chats[0]!)).at(-1)!.content === "Asked again.");
    await until(async () => {
      const { events } = (await api.gql(EVENTS)) as { events: { nodes: { id: string }[] } };
      const received = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
      return events.nodes.every(({ id }) => received.has(id));
    });
    for (const { headers, text } of receiver.received)
      for (const other of receiver.received)
        if (other.headers["webhook-id"] === headers["webhook-id"]) expect(other.text).toBe(text);
  },
  4 * SERVER_TIMEOUT_MS,
);
