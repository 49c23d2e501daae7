import { beforeAll, describe, expect, test } from "@jest/globals";
import { MESSAGES, useEngine } from "../support/engine";
import type { Answer, Api } from "../support/api";
import { newAssistant } from "../support/factories";
import { buildFlow, newFlow } from "../support/flows";
import { bring, chatsWith, connect, newPerson } from "../support/sms";
import { smsOf } from "../support/twilio";
import { startSession } from "../support/visitor";
import { until } from "../support/until";

const SECRET = "one-secret-for-all-calls";
const running = useEngine({ VOICE_ENGINE_SECRET: SECRET, VAPI_PUBLIC_KEY: "public" });

const SETTINGS = ["KEEP", "BLANK", "REFUSE"] as const;
type Setting = (typeof SETTINGS)[number];
const TEXTS = {
  initialMessage: "Hello {first} {last}, {own} {first name}",
  prompt: "The code is {hidden}. You talk with {first} in {own}.",
  functions: [
    {
      name: "f",
      description: "Looks up {own}.",
      parameters: { type: "object", properties: { a: { type: "string", description: "A {tool}" } } },
    },
  ],
};
const GREETING = ["first", "last"];
const ALL = [...GREETING, "hidden", "tool"];
const VALUES = Object.fromEntries(ALL.map((name) => [name, `value-${name}`]));
const PHONE = { phoneNumber: "+14155550132" };

interface Place {
  readonly assistantId: string;
  readonly workflowId: string;
  readonly api: string;
  readonly widget: string;
}
const places = {} as Record<Setting, Place>;
const DEPLOY = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";

async function deployed(input: object): Promise<string> {
  return (await running.api.gql(DEPLOY, { input })).createDeployment.id as string;
}

async function assistantWith(missingVariables: Setting, texts: object = TEXTS): Promise<string> {
  const variables = { own: "Rome", hasOwnProperty: "trap" };
  const id = await newAssistant(running.api, { name: "Ada", variables, missingVariables });
  for (const kind of ["voice", "sms", "chat"])
    await running.api.patch(`/rest/v1/assistants/${id}/${kind}`, texts, 200);
  return id;
}

beforeAll(async () => {
  for (const setting of SETTINGS) {
    const assistantId = await assistantWith(setting);
    const { workflowId } = await buildFlow(running.api, { assistantId });
    places[setting] = {
      assistantId,
      workflowId,
      api: await deployed({ type: "API", assistantId }),
      widget: await deployed({ type: "TEXT_BUBBLE", workflowId }),
    };
  }
});

/** A way to start a conversation. @returns the answer */
type Way = (place: Place, more: object) => Promise<Answer>;
const rest =
  (path: string, input: (place: Place) => object): Way =>
  (place, more) =>
    running.api.request("POST", path, { ...input(place), ...more });
const graphql =
  (name: string, type: string, input: (place: Place) => object): Way =>
  (place, more) =>
    running.api.graphql(`mutation ($input: ${type}!) { result: ${name}(input: $input) { id } }`, {
      input: { ...input(place), ...more },
    });

const CALL_BY_WORKFLOW = "PlaceWorkflowCallInput";
const WAYS: Readonly<Record<string, Way>> = {
  "REST ai-chats": rest("/rest/v1/ai-chats", ({ assistantId }) => ({ assistantId })),
  "REST ai-chats, workflow": rest("/rest/v1/ai-chats", ({ workflowId }) => ({ workflowId })),
  "REST ai-chats, deployment": rest("/rest/v1/ai-chats", ({ api }) => ({ deploymentId: api })),
  "REST v1 call": rest("/rest/v1/call/phone", ({ assistantId }) => ({ assistantId, ...PHONE })),
  "REST phone-calls/initiate": rest("/rest/v1/assistants/phone-calls/initiate", ({ assistantId }) => ({
    assistantId,
    ...PHONE,
  })),
  "REST v2 call": rest("/rest/v2/call/phone", ({ workflowId }) => ({ workflowId, ...PHONE })),
  "REST v2 call, deployment": rest("/rest/v2/call/phone", ({ api }) => ({ deploymentId: api, ...PHONE })),
  "REST v1 web call": rest("/rest/v1/call/web", ({ assistantId }) => ({ assistantId })),
  "REST v2 web call": rest("/rest/v2/call/web", ({ workflowId }) => ({ workflowId })),
  ...Object.fromEntries(
    ["TEXT", "SMS", "VOICE"].map((channel) => [
      `startChat ${channel}`,
      graphql("startChat", "StartChatInput", ({ assistantId }) => ({ assistantId, channel })),
    ]),
  ),
  "startChat, workflow": graphql("startChat", "StartChatInput", ({ workflowId }) => ({ workflowId })),
  placeAssistantCall: graphql("placeAssistantCall", "PlaceAssistantCallInput", ({ assistantId }) => ({
    assistantId,
    ...PHONE,
  })),
  placeWorkflowCall: graphql("placeWorkflowCall", CALL_BY_WORKFLOW, ({ workflowId }) => ({
    workflowId,
    ...PHONE,
  })),
  "placeWorkflowCall, deployment": graphql("placeWorkflowCall", CALL_BY_WORKFLOW, ({ api }) => ({
    deploymentId: api,
    ...PHONE,
  })),
  startWebCall: graphql("startWebCall", "StartWebCallInput", ({ assistantId }) => ({ assistantId })),
};

/** The pages of visitors, who send a PUBLIC key or have a session. */
const visit = async (target: object): Promise<Api> => {
  const { token } = await startSession(running.url, running.publicKey, target);
  return running.api.as({ Authorization: `Bearer ${token}` });
};
const widget =
  (document: string, target: (place: Place) => object = ({ assistantId }) => ({ assistantId })): Way =>
  async (place, variables) =>
    (await visit(target(place))).graphql(document, { input: variables, ...variables });
const GREETING_QUERY = "query ($variables: JSONObject) { widget { greeting(variables: $variables) } }";
const PAGES: Readonly<Record<string, Way>> = {
  startWidgetChat: widget(`mutation ($input: WidgetChatInput!) { startWidgetChat(input: $input) { id } }`),
  "startWidgetChat, workflow": widget(
    `mutation ($input: WidgetChatInput!) { startWidgetChat(input: $input) { id } }`,
    ({ widget }) => ({ deploymentId: widget }),
  ),
  "startWidgetChat VOICE": widget(
    `mutation ($variables: JSONObject) { startWidgetChat(input: { channel: VOICE, variables: $variables }) { id } }`,
  ),
  startWidgetCall: widget(`mutation ($input: WidgetCallInput!) { startWidgetCall(input: $input) { id } }`),
  "startWebCall with a PUBLIC key": ({ assistantId }, more) =>
    running.api
      .as({ "X-API-Key": running.publicKey })
      .graphql(`mutation ($input: StartWebCallInput!) { startWebCall(input: $input) { id } }`, {
        input: { assistantId, ...more },
      }),
  "REST web call with a PUBLIC key": ({ assistantId }, more) =>
    running.api
      .as({ "X-API-Key": running.publicKey })
      .request("POST", "/rest/v1/call/web", { assistantId, ...more }),
  "widget.greeting": widget(GREETING_QUERY),
};

interface Outcome {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly names: readonly string[] | undefined;
  readonly warnings: string;
}

/** What both interfaces say. */
function outcomeOf({ status, headers, body }: Answer): Outcome {
  const error = body.errors?.[0];
  const { code, details, message } = (error ? { ...error, ...error.extensions } : body) as {
    code?: string;
    message?: string;
    details?: readonly { readonly path: string }[];
  };
  if (!error && code !== undefined) expect([status, body.error]).toEqual([400, "Bad Request"]);
  return {
    code,
    message,
    names: details?.map(({ path }) => /^(?:input\.)?variables\.(.+)$/.exec(path)?.[1] ?? path),
    warnings: headers.get("warning") ?? (body.extensions?.warnings ?? []).join("\n"),
  };
}

/** Tables with a row for each conversation. */
const ROWS = ["chats", "calls", "end_users"];
const stored = async (): Promise<unknown> =>
  Promise.all(ROWS.map((table) => running.database.query(`select count(*) from ${table}`)));

describe.each(Object.entries(WAYS))("a conversation started by %s", (_, start) => {
  test("keeps, blanks or refuses names without a value, and names all of them", async () => {
    for (const [setting, effect] of [
      ["KEEP", "stay as written"],
      ["BLANK", "become empty"],
    ] as const) {
      const { code, warnings } = outcomeOf(await start(places[setting], {}));
      expect([setting, code]).toEqual([setting, undefined]);
      expect(warnings).toContain(
        `Variables without a value ${effect}: {first} in initialMessage and prompt, {last} in initialMessage, {hidden} in prompt, {tool} in functions.`,
      );
    }
    const before = await stored();
    const refused = outcomeOf(await start(places.REFUSE, { metadata: { a: 1 }, variables: { own: 1 } }));
    expect(refused).toMatchObject({ code: "MISSING_VARIABLES", names: ALL });
    expect(refused.message).toContain("{hidden} in prompt");
    const { hidden: _, ...incomplete } = VALUES;
    expect(outcomeOf(await start(places.REFUSE, { variables: incomplete })).names).toEqual(["hidden"]);
    expect(await stored()).toEqual(before);
  });

  test("is not refused if each name has a value", async () => {
    const { code, warnings } = outcomeOf(await start(places.REFUSE, { variables: VALUES }));
    expect([code, warnings]).toEqual([undefined, expect.not.stringContaining("Variables without")]);
  });
});

test("a refused chat registers no end user", async () => {
  const before = await stored();
  const input = { assistantId: places.REFUSE.assistantId, uniqueId: "nobody" };
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  expect((await running.api.gqlError(start, { input })).extensions.code).toBe("MISSING_VARIABLES");
  expect(await stored()).toEqual(before);
});

describe.each(Object.entries(PAGES))("a page that starts a conversation by %s", (_, start) => {
  test("learns only the names in the greeting", async () => {
    for (const setting of ["KEEP", "BLANK"] as const) {
      const answer = await start(places[setting], { variables: {} });
      const { code, warnings } = outcomeOf(answer);
      expect([setting, code]).toEqual([setting, undefined]);
      expect(warnings).toContain("{first} in initialMessage, {last} in initialMessage.");
      expect(answer.text + warnings).not.toMatch(/hidden|tool/);
    }
    const before = await stored();
    for (const [variables, names] of [
      [{}, GREETING],
      [{ first: "Bea" }, ["last"]],
      [{ first: "Bea", last: "Low" }, undefined],
      [{ first: "Bea", last: "Low", hidden: 1 }, undefined],
    ] as const) {
      const answer = await start(places.REFUSE, { variables });
      expect(outcomeOf(answer)).toMatchObject({ code: "MISSING_VARIABLES", names });
      expect(answer.text).not.toMatch(/hidden|tool/);
    }
    expect(await stored()).toEqual(before);
    expect(outcomeOf(await start(places.REFUSE, { variables: VALUES })).code).toBeUndefined();
  });
});

describe("the greeting of a widget", () => {
  const greetingOf = async (setting: Setting, variables?: object) => {
    const visitor = await visit({ assistantId: places[setting].assistantId });
    return (await visitor.gql(GREETING_QUERY, { ...(variables && { variables }) })).widget
      .greeting as unknown;
  };

  test("shows names without a value as the assistant's setting says", async () => {
    expect(await greetingOf("KEEP")).toBe("Hello {first} {last}, Rome {first name}");
    expect(await greetingOf("BLANK")).toBe("Hello  , Rome {first name}");
    expect(await greetingOf("REFUSE", VALUES)).toBe("Hello value-first value-last, Rome {first name}");
  });

  test("is empty until the page has sent variables, if the assistant refuses chats without them", async () => {
    expect(await greetingOf("REFUSE")).toBeNull();
    const session = await startSession(running.url, running.publicKey, {
      assistantId: places.REFUSE.assistantId,
    });
    expect(session.widget.greeting).toBeNull();
  });
});

describe("people who call or text an assistant that refuses missing variables", () => {
  test("hear empty texts in their place", async () => {
    const line = await connect(running, []);
    const { assistantId } = places.REFUSE;
    await deployed({ type: "PHONE_INBOUND", assistantId, telephonyConnectionId: line.id });
    const message = {
      type: "assistant-request",
      customer: { number: "+41783000001" },
      call: { id: "inbound-1" },
      phoneNumber: { number: line.phoneNumber },
    };
    const { assistant } = await running.api.as({ "x-vapi-secret": SECRET }).post(MESSAGES, { message }, 201);
    expect(assistant.firstMessage).toBe("Hello  , Rome {first name}");
    expect(assistant.model.messages[0].content).toContain("The code is . You talk with  in Rome.");
    expect(JSON.stringify(assistant)).not.toMatch(/\{(first|last|hidden|tool)\}/);
  });

  test("read empty texts in their place, and are called back", async () => {
    const { assistantId } = places.REFUSE;
    await running.api.patch(`/rest/v1/assistants/${assistantId}/sms`, { voiceCallMode: true }, 200);
    const line = await connect(running, [assistantId]);
    const [writer, caller] = [newPerson(), newPerson()];
    const at = "https://parley.example";
    const send = (from: string, words: string) => bring(running, line, smsOf(line, from, words), { at });
    expect((await send(writer, "Hello")).status).toBe(200);
    const [chat] = await chatsWith(running, assistantId, writer);
    expect(chat!.messages[0]!.content).toBe("Hello  , Rome {first name}");
    expect((await send(caller, "CALL")).status).toBe(200);
    await until(async () =>
      (await chatsWith(running, assistantId, caller)).some(({ channel }) => channel === "VOICE"),
    );
  });
});

describe("a workflow", () => {
  const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id greeting } }";
  const MESSAGES_OF = "query ($id: ID!) { chat(id: $id) { messages(last: 50) { role content } } }";

  test("counts names that it sets itself as values", async () => {
    const assistantId = await assistantWith("REFUSE", {
      prompt: "For {order.state} and {day}.",
      functions: [],
    });
    for (const kind of ["voice", "sms", "chat"])
      await running.api.patch(`/rest/v1/assistants/${assistantId}/${kind}`, { initialMessage: "" }, 200);
    const start = { type: "START" };
    const end = { type: "END" };
    const wayOut = { kind: "MODEL", description: "It is over.", collects: ["day"] };
    const flow = (resultVariable: string | null, more: object = {}) =>
      newFlow(running.api, { start, talk: { type: "PROMPT", assistantId, resultVariable, ...more }, end }, [
        ["start", "talk"],
        ["talk", "end", wayOut],
      ]);
    const whole = await flow("order");
    await running.api.gql(START, { input: { workflowId: whole.workflowId } });
    const partial = await flow(null, { instructions: "Be {mood}." });
    const error = await running.api.gqlError(START, { input: { workflowId: partial.workflowId } });
    expect(error.extensions.details.map(({ path }: { path: string }) => path)).toEqual([
      "input.variables.order.state",
      "input.variables.mood",
    ]);
  });

  test("is asked for the names of the node to which the assistant's own variables lead", async () => {
    const assistantId = await assistantWith("REFUSE", { initialMessage: "", prompt: "", functions: [] });
    const prompt = (instructions: string) => ({ type: "PROMPT", assistantId, instructions });
    const ends = { kind: "MODEL", description: "It is over." };
    const { workflowId } = await newFlow(
      running.api,
      { start: { type: "START" }, rome: prompt("{forum}"), other: prompt("{suburb}"), end: { type: "END" } },
      [
        ["start", "rome", { kind: "VARIABLE", variable: "own", operator: "EQUALS", value: "Rome" }],
        ["start", "other"],
        ["rome", "end", ends],
        ["other", "end", ends],
      ],
    );
    const { extensions } = await running.api.gqlError(START, { input: { workflowId } });
    expect(extensions.details.map(({ path }: { path: string }) => path)).toEqual(["input.variables.forum"]);
  });

  test.each([
    ["KEEP", { a: "{x}", b: ["{y} z"], c: "Rome", "{key}": 1 }],
    ["BLANK", { a: "", b: [" z"], c: "Rome", "{key}": 1 }],
  ] as [Setting, object][])(
    "with %s calls a function with these arguments: %j",
    async (setting, expected) => {
      const functions = [{ name: "f", parameters: { type: "object", properties: {} } }];
      const assistantId = await assistantWith(setting, { initialMessage: "Hello", prompt: "", functions });
      const args = { a: "{x}", b: ["{y} z"], c: "{own}", "{key}": 1 };
      const { workflowId } = await newFlow(
        running.api,
        {
          start: { type: "START" },
          act: { type: "ACTION", assistantId, functionName: "f", arguments: args },
          talk: { type: "PROMPT", assistantId },
          end: { type: "END" },
        },
        [
          ["start", "act"],
          ["act", "talk"],
          ["talk", "end", { kind: "MODEL", description: "It is over." }],
        ],
      );
      const { startChat } = await running.api.gql(START, { input: { workflowId } });
      const query = "query ($id: ID!) { chat(id: $id) { messages(last: 50) { toolCalls } } }";
      const calls = async () => {
        const { messages } = (await running.api.gql(query, { id: startChat.id })).chat;
        return messages.flatMap((one: { toolCalls: { arguments: unknown }[] | null }) => one.toolCalls ?? []);
      };
      await until(async () => (await calls()).length > 0);
      expect((await calls())[0].arguments).toEqual(expected);
    },
  );

  test("hands over to an assistant whose own setting decides; none refuses then", async () => {
    const first = await assistantWith("KEEP", { initialMessage: "First {x}", prompt: "", functions: [] });
    const ids = { KEEP: "", BLANK: "", REFUSE: "" };
    for (const setting of SETTINGS)
      ids[setting] = await assistantWith(setting, { initialMessage: "Next {x}.", prompt: "", functions: [] });
    for (const [setting, expected] of [
      ["KEEP", "Next {x}."],
      ["BLANK", "Next ."],
      ["REFUSE", "Next ."],
    ] as const) {
      const { workflowId } = await newFlow(
        running.api,
        {
          start: { type: "START" },
          one: { type: "PROMPT", assistantId: first },
          two: { type: "PROMPT", assistantId: ids[setting] },
          end: { type: "END", message: "Bye {x}!" },
        },
        [
          ["start", "one"],
          ["one", "two", { kind: "MODEL", description: "Hand over." }],
          ["two", "end", { kind: "MODEL", description: "It is over." }],
        ],
      );
      const { startChat } = await running.api.gql(START, { input: { workflowId } });
      expect(startChat.greeting).toBe("First {x}");
      const say = (content: string) =>
        running.api.post(
          "/rest/v1/ai-chats/messages?wait=true",
          { aiChatId: startChat.id, role: "USER", channel: "TEXT", content, metadata: {} },
          201,
        );
      await say("call:go_to_two {}");
      const { chat } = await running.api.gql(MESSAGES_OF, { id: startChat.id });
      expect(chat.messages.at(-1)).toEqual({ role: "ASSISTANT", content: expected });
      await say("call:go_to_end {}");
      const later = (await running.api.gql(MESSAGES_OF, { id: startChat.id })).chat.messages;
      expect(later.at(-1)).toEqual({
        role: "ASSISTANT",
        content: setting === "KEEP" ? "Bye {x}!" : "Bye !",
      });
    }
  });
});

describe("the setting missingVariables", () => {
  const READ = "query ($id: ID!) { assistant(id: $id) { missingVariables version { number } } }";
  const read = async (id: string) => (await running.api.gql(READ, { id })).assistant;

  test("is KEEP by default, acts at once and makes no version", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    expect(await read(id)).toEqual({ missingVariables: "KEEP", version: { number: 1 } });
    await api.patch(`/rest/v1/assistants/${id}/chat`, { initialMessage: "Hello {name}!" }, 200);
    const greeting = async () => (await api.post("/rest/v1/ai-chats", { assistantId: id }, 201)).greeting;
    expect(await greeting()).toBe("Hello {name}!");
    const update = `mutation ($id: ID!) { updateAssistant(id: $id, input: { missingVariables: BLANK }) { id } }`;
    await api.gql(update, { id });
    expect(await greeting()).toBe("Hello !");
    await api.patch(`/rest/v1/assistants/${id}`, { missingVariables: "REFUSE" }, 200);
    await api.post("/rest/v1/ai-chats", { assistantId: id }, 400);
    expect(await read(id)).toEqual({ missingVariables: "REFUSE", version: { number: 2 } });
    const restore = `mutation ($id: ID!) { restoreAssistantVersion(assistantId: $id, number: 1) { missingVariables } }`;
    expect((await api.gql(restore, { id })).restoreAssistantVersion.missingVariables).toBe("REFUSE");
  });

  test("belongs to a copy too, and a template has the default", async () => {
    const { api } = running;
    const copy = await api.post(`/rest/v1/assistants/duplicate/${places.BLANK.assistantId}`, {}, 200);
    expect((await read(copy.id)).missingVariables).toBe("BLANK");
    const templates = "{ assistantTemplates { data { missingVariables } } }";
    const { data } = (await api.gql(templates)).assistantTemplates;
    expect(new Set(data.map((one: { missingVariables: string }) => one.missingVariables))).toEqual(
      new Set(["KEEP"]),
    );
  });

  test("must be one of its values, on both interfaces", async () => {
    const { api } = running;
    const { assistantId: id } = places.KEEP;
    for (const missingVariables of [null, "keep", 3]) {
      const { status, body } = await api.request("PATCH", `/rest/v1/assistants/${id}`, { missingVariables });
      expect([status, body.details]).toEqual([
        400,
        [{ path: "missingVariables", message: expect.any(String) }],
      ]);
      const update = `mutation ($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }`;
      const error = await api.gqlError(update, { id, input: { missingVariables } });
      expect([error.extensions.code, error.extensions.details[0].path]).toEqual([
        "BAD_USER_INPUT",
        "input.missingVariables",
      ]);
    }
  });

  test("does not change what REST returns of an assistant", async () => {
    for (const setting of SETTINGS)
      expect(await running.api.get(`/rest/v1/assistants/${places[setting].assistantId}`, 200)).toEqual({
        id: places[setting].assistantId,
        name: "Ada",
        template: false,
        variables: { own: "Rome", hasOwnProperty: "trap" },
      });
  });
});

test("null is no value for REFUSE, and an empty text otherwise", async () => {
  const withNull = { ...VALUES, hidden: null };
  for (const setting of SETTINGS) {
    const { assistantId } = places[setting];
    const { status, body } = await running.api.request("POST", "/rest/v1/ai-chats", {
      assistantId,
      variables: withNull,
    });
    expect([setting, status]).toEqual([setting, setting === "REFUSE" ? 400 : 201]);
    if (setting === "REFUSE")
      expect(body).toMatchObject({ code: "MISSING_VARIABLES", details: [{ path: "variables.hidden" }] });
  }
});
