import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { ended, FAST, NUMBER, place, speaker } from "../support/calls";
import { endChat, newAssistant, quietAssistant } from "../support/factories";
import { OpenApi, type JsonObject, type OpenApiDocument } from "../support/openapi";
import { chatsWith, connect, newPerson, text } from "../support/sms";
import { talk } from "../support/talk";
import { until } from "../support/until";
import { VisitorClient } from "../support/visitor";

const running = useApp({ ...FAST, OUTBOUND_ALLOW: "127.0.0.0/8" });

const logOf = (assistantId: string, id: string): Promise<JsonObject> =>
  running.api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200) as Promise<JsonObject>;

/** A log of each kind of conversation. */
const LOGS: Readonly<Record<string, () => Promise<JsonObject>>> = {
  "a text chat with a function call": async () => {
    const replies = [{ call: "look_up", arguments: '{"city":"Rome"}' }, { text: ["At nine."] }];
    const configuration = {
      initialMessage: "Hello!",
      functions: [{ name: "look_up", description: "Looks up." }],
    };
    const { model, say, answered, log, chatId } = await talk(running, replies, { configuration });
    await say("When do you open?");
    await endChat(running.api, chatId);
    await answered();
    await model.stop();
    return (await log()) as JsonObject;
  },
  "a text chat whose model failed": async () => {
    const { model, say, answered, log } = await talk(running, [{ status: 401 }]);
    await say("When do you open?");
    await answered();
    await model.stop();
    return (await log()) as JsonObject;
  },
  "a text chat without messages": async () => {
    const assistantId = await quietAssistant(running.api);
    const { id } = (await running.api.post("/rest/v1/ai-chats", { assistantId }, 201)) as { id: string };
    return logOf(assistantId, id);
  },
  "a call": async () => {
    const assistantId = await speaker(running.api);
    const id = await place(running.api, assistantId, NUMBER.answers, { userName: "Grace" });
    await ended(running.api, id);
    return logOf(assistantId, id);
  },
  "an SMS conversation": async () => {
    const assistantId = await newAssistant(running.api);
    const person = newPerson();
    await text(running, await connect(running, [assistantId]), person, "Hello");
    const [chat] = await chatsWith(running, assistantId, person);
    await until(async () => ((await logOf(assistantId, chat!.id)).metadata as JsonObject).messageCount !== 1);
    return logOf(assistantId, chat!.id);
  },
  "a conversation in the widget": async () => {
    const assistantId = await newAssistant(running.api);
    const visitor = await VisitorClient.of(running.url, running.publicKey, { assistantId });
    const { id } = await visitor.start({ metadata: { cartId: "7" } });
    await visitor.post(id, "Hello", "0192f0c9-2b6e-7d10-a3c4-8e5f90b1c2d3");
    await until(async () => (await visitor.chat(id)).messages.length > 2);
    await visitor.close();
    return logOf(assistantId, id);
  },
};

/** The document without the permission of further properties. */
const closed = (text: string): OpenApiDocument =>
  JSON.parse(text, (_key, value: JsonObject | null) => {
    if (!value?.properties || value.additionalProperties !== true) return value;
    const { additionalProperties: _open, ...schema } = value;
    return schema;
  }) as OpenApiDocument;

/** The fields of a value and of the values in it, by path, without places in lists. */
const fieldsIn = (value: unknown, path: string): string[] =>
  Array.isArray(value)
    ? value.flatMap((item) => fieldsIn(item, path))
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, part]) => [
          `${path}${name}`,
          ...fieldsIn(part, `${path}${name}.`),
        ])
      : [];

describe("the OpenAPI document describes the structure of", () => {
  let openApi: OpenApi;
  const seen = new Set<string>();
  beforeAll(async () => {
    openApi = new OpenApi(closed((await running.api.request("GET", "/rest/openapi.json")).text));
  });

  test.each(Object.entries(LOGS))("%s", async (_name, make) => {
    const log = await make();
    expect(openApi.answerProblems("getLog", 200, log)).toEqual([]);
    for (const name of ["messages", "metadata"]) for (const field of fieldsIn(log[name], "")) seen.add(field);
  });

  test("messages and metadata in these logs with every field", () => {
    const { schemas } = openApi.document.components;
    const { Log, LogMessage, FunctionCall } = schemas as Record<
      string,
      { properties: Record<string, JsonObject> }
    >;
    const named = (properties: unknown, path = "") =>
      Object.keys(properties as object).map((name) => path + name);
    const documented = [
      ...named(Log!.properties.messages!.properties),
      ...named(LogMessage!.properties, "items."),
      ...named(FunctionCall!.properties, "items.toolCalls."),
      ...named(Log!.properties.metadata!.properties),
    ];
    expect(documented.filter((field) => !seen.has(field))).toEqual([]);
  });

  test("further fields of messages and metadata as possible", async () => {
    const { components } = (await running.api.get("/rest/openapi.json", 200)) as OpenApiDocument;
    const { Log, LogMessage } = components.schemas as Record<
      string,
      { properties: Record<string, JsonObject> }
    >;
    for (const schema of [Log!.properties.messages, Log!.properties.metadata, LogMessage])
      expect(schema).toMatchObject({ additionalProperties: true });
  });
});
