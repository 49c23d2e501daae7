import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startApp, useApp } from "../support/app";
import { eventsOf } from "../support/calls";
import { expectError } from "../support/errors";
import { newAssistant, quietAssistant } from "../support/factories";
import {
  answeredBy,
  bring,
  chatsWith,
  connect,
  INTERCEPT,
  newPerson,
  text,
  textsIn,
  wordsOf,
  type ConnectedNumber,
} from "../support/sms";
import { stubModel } from "../support/stub-model";
import { sign, signatureVector, smsOf, type Params } from "../support/twilio";

const running = useApp({ WORKER: "on" });
const PUBLIC = "https://parley.example:8443";
const proxied = useApp({ WORKER: "on", PUBLIC_BASE_URL: PUBLIC });

let model: Awaited<ReturnType<typeof stubModel>>;
let assistantId: string;
let number: ConnectedNumber;
let shop: ConnectedNumber;

beforeAll(async () => {
  model = await stubModel({ text: ["We open ", "at 9 & close <late>."] });
  for (const app of [running, proxied]) await answeredBy(app, model);
  assistantId = await quietAssistant(running.api);
  number = await connect(running, [assistantId]);
  shop = await connect(proxied, [await quietAssistant(proxied.api)]);
});
afterAll(() => model.stop());

describe("an incoming text", () => {
  test("is answered in the response, as TwiML, with the SMS configuration of the assistant", async () => {
    await running.api.patch(`/rest/v1/assistants/${assistantId}/sms`, { prompt: "You are a shop." }, 200);
    const from = newPerson();
    const answer = await bring(running, number, smsOf(number, from, "When do you open?"));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/xml; charset=utf-8");
    expect(answer.text).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response><Message>We open at 9 &amp; close &lt;late&gt;.</Message></Response>',
    );
    expect(String(model.asked.at(-1)!.messages[0]!.content)).toContain("You are a shop.");
    expect(running.twilio.sentTo(from)).toEqual([]);
  });

  test("is a message of a chat of channel SMS, which the next text continues", async () => {
    const from = newPerson();
    await text(running, number, from, "One");
    await text(running, number, from, "Two");
    const chats = await chatsWith(running, assistantId, from);
    expect(chats).toHaveLength(1);
    expect(chats[0]).toMatchObject({ channel: "SMS", status: "in-progress", phoneNumber: from });
    expect(wordsOf(chats[0]!)).toEqual([
      "USER: One",
      "ASSISTANT: We open at 9 & close <late>.",
      "USER: Two",
      "ASSISTANT: We open at 9 & close <late>.",
    ]);
    const [log] = await running.api.get(`/rest/v1/assistants/${assistantId}/logs?type=SMS`, 200);
    expect(log).toMatchObject({ type: "SMS", label: from });
  });

  test("causes events of type SMS, with the person's number", async () => {
    const from = newPerson();
    await text(running, number, from, "When do you open?");
    const [chat] = await chatsWith(running, assistantId, from);
    const events = (await eventsOf(running.api, chat!.id)).map(({ payload }) => payload);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["SMS"]));
    const told = (name: string) => events.findLast(({ event }) => event === name)!.data;
    expect(told("session-start")).toMatchObject({ phoneNumber: from });
    expect(told("status-changed")).toMatchObject({ phoneNumber: from, status: "in-progress" });
    expect(told("conversation-updated")).toMatchObject({
      phoneNumber: from,
      messages: [
        { role: "user", content: "When do you open?" },
        { role: "bot", content: "We open at 9 & close <late>." },
      ],
    });
  });

  test("starts a new chat after the previous one has ended", async () => {
    const from = newPerson();
    await text(running, number, from, "One");
    const [first] = await chatsWith(running, assistantId, from);
    await running.api.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id: first!.id });
    await text(running, number, from, "Two");
    expect(await chatsWith(running, assistantId, from)).toHaveLength(2);
  });

  test("gets the greeting in the person's first chat with the assistant only", async () => {
    const greeter = await newAssistant(running.api, { name: "Greeter", variables: { shop: "Bea's" } });
    await running.api.patch(`/rest/v1/assistants/${greeter}/sms`, { initialMessage: "This is {shop}." }, 200);
    const line = await connect(running, [greeter]);
    const from = newPerson();
    const [first] = await text(running, line, from, "Hi");
    expect(first).toBe("This is Bea's.\n\nWe open at 9 & close <late>.");
    const [chat] = await chatsWith(running, greeter, from);
    await running.api.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id: chat!.id });
    expect(await text(running, line, from, "Hi again")).toEqual(["We open at 9 & close <late>."]);
  });

  test("sent 50 times at once has one effect and one answer", async () => {
    const from = newPerson();
    const asked = model.asked.length;
    const params = smsOf(number, from, "Are you there?");
    const answers = await Promise.all(Array.from({ length: 50 }, () => bring(running, number, params)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(textsIn(answers[0]!.text)).toHaveLength(1);
    const [chat] = await chatsWith(running, assistantId, from);
    expect(chat!.messages).toHaveLength(2);
    expect(model.asked.length - asked).toBe(1);
    expect((await bring(running, number, params)).text).toBe(answers[0]!.text);
  });

  test("and another of the same person at the same time are one chat", async () => {
    const from = newPerson();
    await Promise.all(["A", "B", "C", "D"].map((word) => text(running, number, from, word)));
    const chats = await chatsWith(running, assistantId, from);
    expect(chats).toHaveLength(1);
    expect(chats[0]!.messages.filter(({ role }) => role === "USER")).toHaveLength(4);
  });

  test("with a picture and no words is answered too", async () => {
    const from = newPerson();
    expect(await text(running, number, from, "", { NumMedia: "1" })).toHaveLength(1);
    const [chat] = await chatsWith(running, assistantId, from);
    expect(chat!.messages[0]!.metadata).toMatchObject({ attachments: 1 });
    expect(await text(running, number, newPerson(), "")).toEqual([]);
  });

  test("with words and a picture stores the words unchanged, and the model is told of the picture", async () => {
    const from = newPerson();
    const media = { NumMedia: "1", MediaContentType0: "image/jpeg" };
    await text(running, number, from, "Is this yours?", media);
    const asked = JSON.stringify(model.asked.at(-1)!.messages.at(-1));
    expect(asked).toContain("Is this yours?");
    expect(asked).toContain("a picture");
    const [chat] = await chatsWith(running, assistantId, from);
    expect(chat!.messages[0]!.content).toBe("Is this yours?");
  });

  test("from a number of ours, or one that cannot receive texts, has no effect", async () => {
    const other = await connect(running, [assistantId]);
    for (const from of [other.phoneNumber, number.phoneNumber, "12345", "BANK"]) {
      expect(await text(running, number, from, "Hello")).toEqual([]);
      expect(await chatsWith(running, assistantId, from)).toEqual([]);
    }
  });
});

describe("the signature of a request", () => {
  const params = () => smsOf(number, newPerson(), "Hello, ümlaut & +1 😀", { Extra: "" });

  test("is computed like Twilio's", () => {
    const { authToken, url, params, signature } = signatureVector;
    expect(sign(authToken, url, params)).toBe(signature);
  });

  test("is accepted if it is valid, also with a query", async () => {
    expect((await bring(running, number, params())).status).toBe(200);
    expect((await bring(running, number, params(), { path: `${INTERCEPT}?a=1&b=%20c` })).status).toBe(200);
  });

  const url = () => running.url + INTERCEPT;
  test.each<[string, (sent: Record<string, string>) => Record<string, string>]>([
    ["added", (sent) => ({ ...sent, Another: "1" })],
    ["added without a value", (sent) => ({ ...sent, Another: "" })],
    ["removed", ({ NumSegments: _, ...sent }) => sent],
    ["changed", (sent) => ({ ...sent, Body: `${sent.Body} ` })],
    ["renamed", ({ ToCountry: country, ...sent }) => ({ ...sent, ToCountrY: country! })],
  ])("is rejected if a parameter was %s", async (_, change) => {
    const sent = params();
    const signature = sign(number.authToken, url(), sent);
    const answer = await bring(running, number, change({ ...sent }), { signature });
    expectError(answer, 403, "FORBIDDEN");
    expect(await chatsWith(running, assistantId, sent.From!)).toEqual([]);
  });

  test("is rejected if it is missing, empty, of another account, or for another URL", async () => {
    const sent = params();
    const wrong = [
      "",
      "x",
      sign("another-token", url(), sent),
      sign(number.authToken, `${running.url}/other`, sent),
      sign(number.authToken, `${url()}?a=1`, sent),
      sign(number.authToken, url().replace("http:", "https:"), sent),
    ];
    for (const signature of wrong)
      expectError(await bring(running, number, sent, { signature }), 403, "FORBIDDEN");
    const body = new URLSearchParams(sent).toString();
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    expectError(await running.api.as({}).request("POST", INTERCEPT, body, headers), 403, "FORBIDDEN");
  });

  test("behind a proxy covers the public URL, whatever host and port the proxy sends", async () => {
    const sent = () => smsOf(shop, newPerson(), "Hello");
    for (const at of [PUBLIC, PUBLIC.replace(":8443", "")])
      expect((await bring(proxied, shop, sent(), { at })).status).toBe(200);
    for (const at of [proxied.url, PUBLIC.replace("8443", "9443"), PUBLIC.replace("https", "http")])
      expectError(await bring(proxied, shop, sent(), { at }), 403, "FORBIDDEN");
  });

  test("does not help for an unconnected number, which gets the same answer", async () => {
    const stranger = { ...number, phoneNumber: "+41445999999" };
    const unknown = await bring(running, number, smsOf(stranger, newPerson(), "Hello"));
    const refused = await bring(running, number, smsOf(number, newPerson(), "Hello"), { signature: "x" });
    expectError(unknown, 403, "FORBIDDEN");
    expect({ ...unknown.body, requestId: "" }).toEqual({ ...refused.body, requestId: "" });
    expectError(await bring(running, number, { Body: "Hello" }), 403, "FORBIDDEN");
  });

  test("is rejected after the number was disconnected", async () => {
    const line = await connect(running, [assistantId]);
    expect(await text(running, line, newPerson(), "Hello")).toHaveLength(1);
    await running.api.gql("mutation ($id: ID!) { disconnectTelephony(id: $id) { id } }", { id: line.id });
    expectError(await bring(running, line, smsOf(line, newPerson(), "Hello")), 403, "FORBIDDEN");
  });
});

test("a signed text with an invalid sender or id is rejected, and with other unusual values accepted", async () => {
  const random = (length: number) => randomBytes(length).toString("hex");
  const refused: Params[] = [
    { MessageSid: random(4_500) },
    { MessageSid: "", SmsSid: "" },
    { From: random(4_500) },
    { From: `+${"1".repeat(81)}` },
    { From: "\0" },
  ];
  for (const more of refused)
    expectError(await bring(running, number, smsOf(number, newPerson(), "Hello", more)), 403, "FORBIDDEN");
  const taken: Params[] = [{ NumMedia: "1e999" }, { NumMedia: "-1" }, { OptOutType: "?" }, { Body: "a\0b" }];
  for (const more of taken) expect(await text(running, number, newPerson(), "Hello", more)).toHaveLength(1);
});

test("a body that is not a form returns 415, one beyond 64 KiB 413", async () => {
  expectError(await running.api.as({}).request("POST", INTERCEPT, { To: "+1" }), 415);
  const long = smsOf(number, newPerson(), "x".repeat(70_000));
  expectError(await bring(running, number, long), 413);
});

test("the path for incoming texts follows the setting", async () => {
  const other = await startApp(running.database, { TELEPHONY_PROVIDER: "carrier" });
  try {
    const path = "/webhooks/carrier/intercept-sms";
    const sms = smsOf(number, number.phoneNumber, "Hello"); // from ourselves: nobody is to answer here
    expect((await bring(other, number, sms, { path })).status).toBe(200);
    expectError(await bring(other, number, sms), 404, "NOT_FOUND");
    const { telephonyConnections } = await other.api.gql("{ telephonyConnections { interceptSmsUrl } }");
    expect(telephonyConnections[0].interceptSmsUrl).toBe(other.url + path);
  } finally {
    await other.stop();
  }
});
