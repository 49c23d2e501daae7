import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { ended, FAST, NUMBER } from "../support/calls";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { importerOf } from "../support/importers";
import { until } from "../support/until";
import { stubModel } from "../support/stub-model";
import { startSession, VisitorClient } from "../support/visitor";

const running = useApp(FAST);
const CREDENTIAL =
  "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }";

let secret: string;
let count = 0;
beforeAll(async () => {
  secret = (await running.api.gql("mutation { identitySecret }")).identitySecret as string;
});

/** Channel through which a person talks with an assistant under an id. */
interface Channel {
  readonly signed: boolean;
  /** Sends a message and ends the conversation. @returns the prompt of the model */
  readonly talk: (assistantId: string, uniqueId: string, words: string) => Promise<string>;
}

/** Starts a model that remembers each message as a fact. */
async function remembering(words: string, work: () => Promise<void>): Promise<string> {
  const model = await stubModel(
    { call: "remember_fact", arguments: JSON.stringify({ fact: `Fact of ${words}` }) },
    { text: ["Noted."] },
  );
  await running.api.gql(CREDENTIAL, { input: { provider: "OPENAI", apiKey: "k", baseUrl: model.url } });
  await work();
  await model.stop();
  return String(model.asked[0]!.messages[0]!.content);
}

async function onPage(identity: object, words: string, assistantId: string): Promise<string> {
  return remembering(words, async () => {
    const { token } = await startSession(running.url, running.publicKey, { assistantId, ...identity });
    const visitor = new VisitorClient(running.url, token);
    const { id } = await visitor.start();
    await visitor.post(id, words);
    await until(async () => (await visitor.chat(id)).messages.some(({ role }) => role === "ASSISTANT"));
    await visitor.end(id);
  });
}

const CHANNELS: Record<string, Channel> = {
  "a page without a signature": {
    signed: false,
    talk: (assistantId, uniqueId, words) => onPage({ uniqueId }, words, assistantId),
  },
  "a page with a signature": {
    signed: true,
    talk: (assistantId, uniqueId, words) => {
      const uniqueIdSignature = createHmac("sha256", secret).update(uniqueId).digest("hex");
      return onPage({ uniqueId, uniqueIdSignature }, words, assistantId);
    },
  },
  "a chat that a key started": {
    signed: true,
    talk: (assistantId, uniqueId, words) =>
      remembering(words, async () => {
        const id = await newChat(running.api, assistantId, { uniqueId });
        await say(running.api, id, words, "USER");
        await until(async () =>
          (await messagesOf(id)).some(({ role, content }) => role === "ASSISTANT" && content),
        );
        await endChat(running.api, id);
      }),
  },
};
const CALLS: Readonly<Record<string, boolean>> = { userId: true, anonymousId: false };
for (const [field, isSigned] of Object.entries(CALLS))
  CHANNELS[`a call with ${field}`] = {
    signed: isSigned,
    talk: (assistantId, uniqueId, words) =>
      remembering(words, async () => {
        const body = {
          ...{ assistantId, phoneNumber: NUMBER.answers, [field]: uniqueId },
          metadata: { simulatedCustomer: [words] },
        };
        const { id } = await running.api.post("/rest/v1/call/phone", body, 200);
        await until(async () => (await messagesOf(id)).some(({ role }) => role === "TOOL"));
        await ended(running.api, id);
      }),
  };

const messagesOf = async (id: string): Promise<{ role: string; content: string | null }[]> =>
  (await running.api.gql("query ($id: ID!) { chat(id: $id) { messages { role content } } }", { id })).chat
    .messages;

const pairs = Object.keys(CHANNELS).flatMap((one) =>
  Object.keys(CHANNELS).map((other) => [one, other] as const),
);

describe("the memory in a prompt", () => {
  test.each(pairs)(
    "includes words of %s in the prompt of %s only if both or neither are signed",
    async (one, other) => {
      const assistantId = await quietAssistant(running.api);
      const uniqueId = `person-${++count}`;
      await CHANNELS[one]!.talk(assistantId, uniqueId, "4711");
      const told = await CHANNELS[other]!.talk(assistantId, uniqueId, "4712");
      const [first, second] = [CHANNELS[one]!.signed, CHANNELS[other]!.signed];
      expect(told.includes("Fact of 4711")).toBe(first === second);
      // An unsigned page cannot know that another browser belongs to the same person.
      expect(told.includes("Person: 4711")).toBe(first && second);
    },
  );

  test("is not displaced by unsigned words if it is signed", async () => {
    const assistantId = await quietAssistant(running.api);
    const uniqueId = `person-${++count}`;
    const signed = CHANNELS["a chat that a key started"]!;
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    await signed.talk(assistantId, uniqueId, "4711");
    await running.database.query(
      `update end_users set facts = (
         select json_agg(fact) from (
           select fact from jsonb_array_elements(facts::jsonb) as fact
           union all
           select jsonb_build_object('text', 'Flood ' || n, 'createdAt', '2026-01-01T00:00:00.000Z', 'signed', false)
           from generate_series(1, 50) as n) as every)
       where organization_id = $1 and unique_id = $2`,
      [organizationId, uniqueId],
    );
    await CHANNELS["a page without a signature"]!.talk(assistantId, uniqueId, "4712");
    const told = await signed.talk(assistantId, uniqueId, "4713");
    expect(told).toContain("Fact of 4711");
    expect(told).not.toMatch(/Flood|4712/);
  });

  test.each([
    ["signed facts reach signed conversations", true, true, true],
    ["unsigned facts reach unsigned conversations", false, false, true],
    ["unsigned facts do not reach signed conversations", false, true, false],
    ["signed facts do not reach unsigned conversations", true, false, false],
  ])("if the origin of facts was not recorded, %s", async (_what, before, now, isTold) => {
    const assistantId = await quietAssistant(running.api);
    const uniqueId = `person-${++count}`;
    const [key, page] = [CHANNELS["a chat that a key started"]!, CHANNELS["a page without a signature"]!];
    await (before ? key : page).talk(assistantId, uniqueId, "4711");
    await running.database.query(
      `update end_users set facts = (
         select json_agg(fact - 'signed') from jsonb_array_elements(facts::jsonb) as fact)
       where unique_id = $1`,
      [uniqueId],
    );
    const told = await (now ? key : page).talk(assistantId, uniqueId, "4712");
    expect(told.includes("Fact of 4711")).toBe(isTold);
  });

  test.each([
    ["a chat that a key started", ["Imported, signed."], ["Imported, unsigned."]],
    ["a page without a signature", ["Imported, unsigned."], ["Imported, signed."]],
  ])("includes imported facts of its kind in %s", async (channel, told, untold) => {
    const assistantId = await quietAssistant(running.api);
    const uniqueId = `person-${++count}`;
    const facts = [true, false].map((signed) => ({
      ...{ assistantId, signed, text: `Imported, ${signed ? "signed" : "unsigned"}.` },
      createdAt: "2022-01-01T00:00:00.000Z",
    }));
    const importer = await importerOf(running.api);
    await importer.gql(
      "mutation ($id: String!, $facts: [ImportEndUserFactInput!]!) { importEndUserFacts(uniqueId: $id, facts: $facts) { imported } }",
      { id: uniqueId, facts },
    );
    const prompt = await CHANNELS[channel]!.talk(assistantId, uniqueId, "4711");
    for (const text of told) expect(prompt).toContain(text);
    for (const text of untold) expect(prompt).not.toContain(text);
  });

  test("does not include a last conversation of unrecorded origin in calls without a signature", async () => {
    const assistantId = await quietAssistant(running.api);
    const uniqueId = `person-${++count}`;
    const signed = CHANNELS["a chat that a key started"]!;
    await signed.talk(assistantId, uniqueId, "4711");
    await running.database.query(
      `update end_users set context = 'Person: 4710', signed_context = null, facts = '[]' where unique_id = $1`,
      [uniqueId],
    );
    const unsigned = await CHANNELS["a call with anonymousId"]!.talk(assistantId, uniqueId, "4712");
    expect(unsigned).not.toContain("Person: 4710");
    expect(await signed.talk(assistantId, uniqueId, "4713")).toContain("Person: 4710");
  });
});
