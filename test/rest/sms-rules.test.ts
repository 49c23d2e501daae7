import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { quietAssistant } from "../support/factories";
import {
  answeredBy,
  chatsWith,
  connect,
  newPerson,
  text,
  wordsOf,
  type ConnectedNumber,
} from "../support/sms";
import { stubModel } from "../support/stub-model";

const running = useApp({ WORKER: "on", SIMULATOR_SPEED: "2000" });
let model: Awaited<ReturnType<typeof stubModel>>;
let sales: string;
let support: string;
let number: ConnectedNumber;

const configure = (id: string, sms: object) => running.api.patch(`/rest/v1/assistants/${id}/sms`, sms, 200);
const ANSWER = "Thank you.";

beforeAll(async () => {
  model = await stubModel({ text: [ANSWER] });
  await answeredBy(running, model);
  sales = await quietAssistant(running.api);
  support = await quietAssistant(running.api);
  await configure(sales, { keywords: "BUY, price list" });
  await configure(support, { keywords: "broken\nrepair" });
  number = await connect(running, [sales, support]);
});
afterAll(() => model.stop());

/** The person's assistants, in order of their chats. */
const talkedWith = async (from: string) => {
  const counts = await Promise.all(
    [sales, support].map(async (id) => (await chatsWith(running, id, from)).flatMap(wordsOf)),
  );
  return { sales: counts[0]!.filter(isUsers), support: counts[1]!.filter(isUsers) };
};
const isUsers = (line: string) => line.startsWith("USER");

describe("a number with SMS deployments", () => {
  const DEPLOY = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
  const CHATS = `query ($id: ID!) { assistant(id: $id) { chats { nodes { phoneNumber deployment { id } messages { role content } } } } }`;

  test("is answered by them, in separate chats, while they are enabled", async () => {
    const { api } = running;
    const line = await connect(running, []);
    const deploy = async (enabled: boolean) => {
      const input = { type: "SMS", assistantId: sales, telephonyConnectionId: line.id, enabled };
      return (await api.gql(DEPLOY, { input })).createDeployment.id as string;
    };
    await deploy(false);
    const nobody = newPerson();
    await text(running, line, nobody, "Hello");
    const id = await deploy(true);
    const from = newPerson();
    await text(running, line, from, "Hello");
    const { nodes } = (await api.gql(CHATS, { id: sales })).assistant.chats;
    const own = nodes.filter(({ phoneNumber }: { phoneNumber: string }) =>
      [from, nobody].includes(phoneNumber),
    );
    expect(own).toMatchObject([{ phoneNumber: from, deployment: { id } }]);
  });
});

describe("a number that several assistants share", () => {
  test("is answered by the first one if no keyword matches", async () => {
    const from = newPerson();
    await text(running, number, from, "Hello there");
    expect(await talkedWith(from)).toEqual({ sales: ["USER: Hello there"], support: [] });
  });

  test.each([
    "My radio is BROKEN!",
    "repair, please; what is the price list?",
    "It broke: repair it, then I buy",
  ])("is answered by the one whose keyword comes first: %s", async (words) => {
    const from = newPerson();
    await text(running, number, from, words);
    expect(await talkedWith(from)).toEqual({ sales: [], support: [`USER: ${words}`] });
  });

  test("matches keywords as whole words only", async () => {
    const from = newPerson();
    await text(running, number, from, "unbroken repairs");
    expect(await talkedWith(from)).toEqual({ sales: ["USER: unbroken repairs"], support: [] });
  });

  test("continues with the person's current assistant, until a keyword names another", async () => {
    const from = newPerson();
    for (const words of ["broken radio", "It is red", "I want to buy a new one", "And a stand"])
      await text(running, number, from, words);
    expect(await talkedWith(from)).toEqual({
      sales: ["USER: I want to buy a new one", "USER: And a stand"],
      support: ["USER: broken radio", "USER: It is red"],
    });
  });

  test("is not answered if it has no assistants", async () => {
    expect(await text(running, await connect(running, []), newPerson(), "Hello")).toEqual([]);
  });
});

describe("STOP, START and HELP", () => {
  test.each(["STOP", "stop.", "Unsubscribe", "STOPALL", "cancel", "END", "quit", "OptOut", "revoke"])(
    "%s ends the chat, is confirmed once, and later texts are not answered",
    async (word) => {
      const from = newPerson();
      await text(running, number, from, "Hello");
      const confirmed = await text(running, number, from, word);
      expect(confirmed).toEqual([expect.stringMatching(/no more messages.*START/)]);
      const [chat] = await chatsWith(running, sales, from);
      expect(chat).toMatchObject({ status: "ended", endedReason: "opted-out" });
      for (const words of ["Hello?", word, "broken", "call me"])
        expect(await text(running, number, from, words)).toEqual([]);
      expect(await chatsWith(running, sales, from)).toHaveLength(1);
    },
  );

  test.each(["START", "unstop", "Yes"])("%s undoes it", async (word) => {
    const from = newPerson();
    await text(running, number, from, "STOP");
    expect(await text(running, number, from, word)).toEqual([expect.stringMatching(/again/)]);
    expect(await text(running, number, from, "Hello")).toEqual([ANSWER]);
  });

  test("apply to one of our numbers only, and stay when it is reconnected", async () => {
    const other = await connect(running, [support]);
    const from = newPerson();
    await text(running, other, from, "STOP");
    expect(await text(running, number, from, "Hello")).toEqual([ANSWER]);
    const { id, ...account } = other;
    await running.api.gql("mutation ($id: ID!) { disconnectTelephony(id: $id) { id } }", { id });
    const again = "mutation ($input: ConnectTelephonyInput!) { connectTelephony(input: $input) { id } }";
    await running.api.gql(again, { input: { ...account, assistantIds: [support] } });
    expect(await text(running, other, from, "Hello")).toEqual([]);
  });

  test("HELP gets a fixed answer, not one of the assistant", async () => {
    const from = newPerson();
    for (const word of ["HELP", "info"])
      expect(await text(running, number, from, word)).toEqual([expect.stringMatching(/STOP/)]);
    expect(await chatsWith(running, sales, from)).toEqual([]);
  });

  test("are commands only as the whole text; yes is a normal message", async () => {
    const from = newPerson();
    for (const words of ["Please stop by tomorrow", "I need help", "Yes", "the end"])
      expect(await text(running, number, from, words)).toEqual([ANSWER]);
  });

  test("are not answered again if the provider has answered, and are applied as the provider says", async () => {
    const from = newPerson();
    expect(await text(running, number, from, "Basta", { OptOutType: "STOP" })).toEqual([]);
    expect(await text(running, number, from, "Hello")).toEqual([]);
    expect(await text(running, number, from, "Otra vez", { OptOutType: "START" })).toEqual([]);
    expect(await text(running, number, from, "Ayudame", { OptOutType: "HELP" })).toEqual([]);
    expect(await text(running, number, from, "Hello")).toEqual([ANSWER]);
  });
});

test("a number gets at most 10 answers in 10 minutes; further texts are stored", async () => {
  const from = newPerson();
  const answers: string[][] = [];
  for (let count = 0; count < 13; count++) answers.push(await text(running, number, from, `Text ${count}`));
  expect(answers.filter((texts) => texts.length > 0)).toHaveLength(10);
  expect(answers.slice(10)).toEqual([[], [], []]);
  expect(await text(running, number, from, "HELP")).toEqual([]);
  const [chat] = await chatsWith(running, sales, from);
  expect(chat!.messages.filter(({ role }) => role === "USER")).toHaveLength(13);
  expect(chat!.messages.filter(({ role }) => role === "ASSISTANT")).toHaveLength(10);
  expect(running.twilio.sentTo(from)).toEqual([]);
  expect(await text(running, number, newPerson(), "Hello")).toEqual([ANSWER]);
  await running.database.query(
    `update sms_contacts set answers = (select jsonb_agg((one #>> '{}')::timestamptz - interval '10 minutes')
      from jsonb_array_elements(answers) one) where phone_number = $1`,
    [from],
  );
  expect(await text(running, number, from, "Hello again")).toEqual([ANSWER]);
});

test("an assistant with SMS disabled answers with a fixed sentence, and no model is called", async () => {
  const off = await quietAssistant(running.api);
  await configure(off, { smsMode: false });
  const from = newPerson();
  const asked = model.asked.length;
  const line = await connect(running, [off]);
  expect(await text(running, line, from, "Hello")).toEqual([expect.stringMatching(/no text messages/)]);
  expect(await chatsWith(running, off, from)).toEqual([]);
  expect(model.asked).toHaveLength(asked);
});

describe("a person who asks by text for a call", () => {
  const CALLS =
    "query ($filter: CallFilter) { calls(first: 5, filter: $filter) { nodes { id phoneNumber metadata } } }";
  const callsTo = async (phoneNumber: string) =>
    (await running.api.gql(CALLS, { filter: { phoneNumber } })).calls.nodes;

  test("is called by the assistant if allowed", async () => {
    const caller = await quietAssistant(running.api);
    await configure(caller, { voiceCallMode: true });
    const line = await connect(running, [caller]);
    for (const words of ["Call me", "CALL", "please call me back!", "Ruf mich an"]) {
      const from = newPerson();
      expect(await text(running, line, from, words)).toEqual(["We are calling you now."]);
      expect(await callsTo(from)).toEqual([
        expect.objectContaining({
          phoneNumber: from,
          metadata: expect.objectContaining({ requestedBy: "sms" }),
        }),
      ]);
      const [chat] = (await chatsWith(running, caller, from)).filter(({ channel }) => channel === "SMS");
      expect(wordsOf(chat!)).toEqual([`USER: ${words}`, "ASSISTANT: We are calling you now."]);
    }
  });

  test("is told if the country of the number cannot be called", async () => {
    const caller = await quietAssistant(running.api);
    await configure(caller, { voiceCallMode: true });
    const line = await connect(running, [caller]);
    expect(await text(running, line, "+441632960961", "call me")).toEqual([
      "Sorry, we can't call your number.",
    ]);
    expect(await callsTo("+441632960961")).toEqual([]);
  });

  test("gets a text answer if calls are not allowed", async () => {
    const from = newPerson();
    expect(await text(running, number, from, "Call me")).toEqual([ANSWER]);
    expect(await callsTo(from)).toEqual([]);
  });
});

test("metrics count accepted texts", async () => {
  const { text: page } = await running.api.request("GET", "/metrics");
  expect(page).toMatch(/parley_sms_received_total{outcome="accepted"} [1-9]/);
});
