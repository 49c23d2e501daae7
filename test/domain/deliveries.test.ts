import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

let receiver: Receiver;
let destinationId: string;
beforeEach(async () => {
  receiver = await new Receiver().start();
  ({ id: destinationId } = await running.api.post(
    "/rest/v1/settings",
    { url: receiver.url, secret: SECRET },
    201,
  ));
});
afterEach(async () => {
  await running.api.delete(`/rest/v1/settings/${destinationId}`, 200);
  await receiver.stop();
});

async function startChat(assistant: object = {}): Promise<{ assistantId: string; chatId: string }> {
  const { id: assistantId } = await running.api.post(
    "/rest/v1/assistants",
    { name: "Ada", ...assistant },
    200,
  );
  const mutation = `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`;
  const { startChat } = await running.api.gql(mutation, { input: { assistantId } });
  return { assistantId, chatId: startChat.id };
}

const post = (aiChatId: string, content: string, role = "ASSISTANT") =>
  running.api.post(
    "/rest/v1/ai-chats/messages",
    { aiChatId, role, channel: "TEXT", content, metadata: {} },
    201,
  );

describe("deliveries", () => {
  test("events of a chat reach the destination with both signatures", async () => {
    const { assistantId, chatId } = await startChat();
    await post(chatId, "Zwölf Boxkämpfer 🥊");
    const [delivered] = await receiver.until(1, ({ text }) => text.includes("Boxkämpfer"));
    const { headers, text, body } = delivered!;
    expect(body).toMatchObject({ event: "conversation-updated", type: "TEXT", companionId: assistantId });
    expect(body.data).toMatchObject({
      messages: [{ role: "bot" }, { role: "bot", content: "Zwölf Boxkämpfer 🥊" }],
    });
    expect(headers["x-signature"]).toBe(createHmac("sha256", SECRET).update(text).digest("hex"));
    const key = Buffer.from(SECRET.slice(6), "base64");
    const signed = [headers["webhook-id"], headers["webhook-timestamp"], text].join(".");
    expect(headers["webhook-signature"]).toBe(
      `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
    );
  });

  test("the events of a chat arrive in order", async () => {
    const { chatId } = await startChat();
    for (let n = 1; n <= 10; n++) await post(chatId, `message ${n}`);
    await running.api.gql(`mutation ($id: ID!) { endChat(id: $id) { id } }`, { id: chatId });
    await receiver.until(1, ({ body }) => body.event === "session-end");
    const ids = receiver.received.map(({ headers }) => String(headers["webhook-id"]));
    expect(ids).toEqual([...ids].sort());
    expect(receiver.received.map(({ body }) => body.event).slice(0, 3)).toEqual([
      "session-start",
      "status-changed",
      "conversation-updated",
    ]);
  });

  test("a failed attempt is repeated after about five seconds with the same id and bytes", async () => {
    receiver.answer((res, _, number) => void (number === 1 ? res.writeHead(500).end("no") : res.end("yes")));
    await startChat();
    const [first, second] = await receiver.until(2, ({ body }) => body.event === "session-start");
    expect(second!.text).toBe(first!.text);
    // The chat's next events did not wait for it.
    expect(receiver.received.map(({ body }) => body.event)).toEqual([
      "session-start",
      "status-changed",
      "conversation-updated",
      "session-start",
    ]);
    expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
    const query = `query ($id: ID) { webhookDestinations(projectId: $id) { id deliveries(first: 50) { nodes { status attempts { number status answer } event { id name } } } } }`;
    const found = await until(async () => {
      const { webhookDestinations } = await running.api.gql(query);
      const own = webhookDestinations.find(({ id }: { id: string }) => id === destinationId);
      const node = own.deliveries.nodes.find(
        ({ event }: { event: { id: string } }) => event.id === first!.headers["webhook-id"],
      );
      return node.attempts.length === 2 ? node : undefined;
    });
    expect(found).toMatchObject({
      status: "DELIVERED",
      attempts: [
        { number: 1, status: 500, answer: "no" },
        { number: 2, status: 200, answer: "yes" },
      ],
    });
  });

  test("a destination that answers 410 is disabled, and a PATCH enables it again", async () => {
    receiver.answer((res) => void res.writeHead(410).end());
    await startChat();
    const enabled = async () => {
      const { webhookDestinations } = await running.api.gql(`{ webhookDestinations { id enabled } }`);
      return webhookDestinations.find(({ id }: { id: string }) => id === destinationId).enabled as boolean;
    };
    await until(async () => ((await enabled()) ? undefined : true));
    const listed = async () => (await running.api.request("GET", "/rest/v1/settings")).headers.get("warning");
    expect(await listed()).toMatch(
      new RegExp(`^299 parley "The webhook destination ${destinationId} is disabled`),
    );
    await running.api.patch(`/rest/v1/settings/${destinationId}`, { name: "again" }, 200);
    expect(await enabled()).toBe(true);
    expect(await listed()).toBeNull();
  });

  test.each([
    [200, "DELIVERED"],
    [500, "FAILED"],
    [410, "FAILED"],
  ])("a delivery in flight when its destination is disabled is recorded: %d, %s", async (status, wanted) => {
    const held: ServerResponse[] = [];
    receiver.answer((res, _received, number) => {
      if (number === 1) held.push(res);
      else res.writeHead(410).end();
    });
    await startChat();
    await until(() => held.length > 0);
    await startChat();
    type Row = { status: string; statuses: number[] | null };
    const rows = () =>
      running.database.query<Row>(
        `select status, (select array_agg((one ->> 'status')::integer) from jsonb_array_elements(attempts) one) as statuses
        from deliveries where destination_id = $1`,
        [destinationId],
      );
    await until(async () =>
      (await rows()).some((row) => row.status === "FAILED" && row.statuses?.[0] === 410),
    );
    held[0]!.writeHead(status).end();
    const ended = await until(async () => {
      const found = await rows();
      return found.every((row) => row.status !== "PENDING") && found;
    });
    const tried = ended.filter(({ statuses }) => statuses !== null);
    expect(tried).toHaveLength(2);
    expect(tried).toContainEqual({ status: wanted, statuses: [status] });
    expect(tried).toContainEqual({ status: "FAILED", statuses: [410] });
    expect(receiver.received).toHaveLength(2);
  });

  test("assistants of a project use its destinations instead of the organization's", async () => {
    const other = await new Receiver().start();
    const { api } = running;
    const { createProject } = await api.gql(`mutation { createProject(input: { name: "P" }) { id } }`);
    const projectId = createProject.id as string;
    const create = `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id project { name } } }`;
    await api.gql(create, { input: { url: other.url, secret: "s", projectId } });
    const { createAssistant } = await api.gql(
      `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id project { id } } }`,
      { input: { name: "Of a project", projectId } },
    );
    await api.gql(`mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`, {
      input: { assistantId: createAssistant.id },
    });
    await other.until(1);
    await startChat();
    await receiver.until(1);
    const companions = new Set(receiver.received.map(({ body }) => body.companionId));
    expect(companions.has(createAssistant.id)).toBe(false);
    await other.stop();
  });
});
