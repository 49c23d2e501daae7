import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { answeredBy } from "../support/sms";
import { stubModel } from "../support/stub-model";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });
const CHATS = "/rest/v1/ai-chats";
const MESSAGES = `${CHATS}/messages`;
const said = (aiChatId: string, content: string, role = "USER") => ({
  aiChatId,
  role,
  channel: "TEXT",
  content,
  metadata: {},
});

/** An assistant with this chat configuration. */
async function assistant(configuration: object = {}, body?: object): Promise<string> {
  const id = await newAssistant(running.api, body);
  await running.api.patch(`/rest/v1/assistants/${id}/chat`, configuration, 200);
  return id;
}

describe("a text chat over REST alone", () => {
  test("is started, held, read and ended", async () => {
    const { api } = running;
    const assistantId = await assistant({ initialMessage: "Hello {name}, this is {company}." });
    const body = {
      assistantId,
      variables: { name: "Bea", company: "Acme" },
      metadata: { page: 7 },
      uniqueId: "b-7",
    };
    const started = await api.post(CHATS, body, 201);
    expect(started).toEqual({ id: expect.any(String), greeting: "Hello Bea, this is Acme." });
    const { id } = started as { id: string };

    const posted = await api.post(`${MESSAGES}?wait=true`, said(id, "When do you open?"), 201);
    expect(posted).toMatchObject({ aiChatId: id, role: "USER", content: "When do you open?" });
    expect(posted.reply).toMatchObject({ aiChatId: id, role: "ASSISTANT" });

    const read = await api.get(`${CHATS}/${id}`, 200);
    expect(read).toMatchObject({ id, assistantId, channel: "TEXT", status: "in-progress", ...pick(body) });
    const contents = (read.messages as { content: string }[]).map(({ content }) => content);
    expect(contents).toEqual(["Hello Bea, this is Acme.", "When do you open?", posted.reply.content]);
    const last = await api.get(`${CHATS}/${id}?last=1`, 200);
    expect(last.messages).toEqual([posted.reply]);
    const earlier = await api.get(`${CHATS}/${id}?before=${posted.id}`, 200);
    expect(earlier.messages).toHaveLength(1);

    expect(await api.post(`${CHATS}/${id}/end`, {}, 200)).toMatchObject({
      id,
      status: "ended",
      endedReason: "ended-by-api",
    });
    expect((await api.post(`${CHATS}/${id}/end`, {}, 409)).code).toBe("CHAT_ENDED");
  });

  const pick = ({ variables, metadata }: Record<"variables" | "metadata", unknown>) => ({
    variables,
    metadata,
  });

  test("is refused without an assistant, workflow or deployment, with one sentence about the three", async () => {
    const { message, details } = await running.api.post(CHATS, {}, 400);
    expect(message).toBe("Give exactly one of assistantId, workflowId, deploymentId; got none of them.");
    expect(details.map(({ path }: { path: string }) => path)).toEqual([
      "assistantId",
      "workflowId",
      "deploymentId",
    ]);
  });

  test("has no greeting in the response if the assistant says none", async () => {
    const assistantId = await assistant({ initialMessage: "" });
    expect(Object.keys(await running.api.post(CHATS, { assistantId }, 201))).toEqual(["id"]);
  });

  test.each(["", "?wait=false"])("returns no reply for the query %j", async (query) => {
    const { id } = await running.api.post(CHATS, { assistantId: await assistant() }, 201);
    expect(await running.api.post(MESSAGES + query, said(id, "Hello"), 201)).not.toHaveProperty("reply");
  });

  test.each(["ASSISTANT", "SYSTEM", "TOOL"])("does not wait after a message of role %s", async (role) => {
    const { id } = await running.api.post(CHATS, { assistantId: await assistant() }, 201);
    const posted = await running.api.post(`${MESSAGES}?wait=true`, said(id, "Be brief.", role), 201);
    expect(posted).not.toHaveProperty("reply");
  });

  test.each(["1", "yes", "TRUE", ""])("refuses wait=%s", async (value) => {
    const { id } = await running.api.post(CHATS, { assistantId: await assistant() }, 201);
    const { details } = await running.api.post(`${MESSAGES}?wait=${value}`, said(id, "Hello"), 400);
    expect(details).toEqual([
      { path: "wait", message: expect.stringMatching(/^must be true or false; got "/) },
    ]);
  });

  test("gives the same reply for a repeated Idempotency-Key", async () => {
    const { id } = await running.api.post(CHATS, { assistantId: await assistant() }, 201);
    const post = () =>
      running.api.request("POST", `${MESSAGES}?wait=true`, said(id, "Hello"), { "Idempotency-Key": "once" });
    const first = await post();
    expect(first.body).toHaveProperty("reply.content");
    const again = await post();
    expect([again.text, again.headers.get("idempotency-replayed")]).toEqual([first.text, "true"]);
  });

  test.each([
    ["an unknown assistant", { assistantId: UNKNOWN_ID }, 400, "ASSISTANT_NOT_FOUND"],
    ["no assistant", {}, 400, "BAD_USER_INPUT"],
    ["a channel, which is always TEXT", { assistantId: UNKNOWN_ID, channel: "SMS" }, 400, "BAD_USER_INPUT"],
  ])("is refused with %s", async (_, body, status, code) => {
    expect((await running.api.post(CHATS, body, status)).code).toBe(code);
  });

  test.each([
    ["GET", ""],
    ["POST", "/end"],
  ])("%s /ai-chats/{id}%s returns 404 for an unknown chat", async (method, rest) => {
    const answer = await running.api.request(method, `${CHATS}/${UNKNOWN_ID}${rest}`);
    expect([answer.status, answer.body]).toMatchObject([404, { code: "CHAT_NOT_FOUND" }] as never);
  });
});

describe("wait=true", () => {
  const post = (id: string, content: string, query = "?wait=true") =>
    running.api.post(MESSAGES + query, said(id, content), 201);
  const replyTo = async (id: string, content: string) =>
    ((await post(id, content)) as { reply: { id: string; content: string } }).reply;
  const messagesOf = async (id: string) =>
    (await running.api.get(`${CHATS}/${id}`, 200)).messages as { role: string; content: string }[];

  test("returns the answer to its own message, not that to an earlier one or a colleague's message", async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const model = await stubModel({ text: ["At nine."], held }, { text: ["Behind the house."] });
    await answeredBy(running, model);
    try {
      const { id } = await running.api.post(CHATS, { assistantId: await assistant() }, 201);
      await post(id, "When do you open?", "");
      await until(() => model.asked.length === 1);
      const parking = replyTo(id, "Where can I park?");
      await until(async () => (await messagesOf(id)).some(({ content }) => content === "Where can I park?"));
      await running.api.post(MESSAGES, said(id, "A colleague says hello.", "ASSISTANT"), 201);
      release();
      expect((await parking).content).toBe("Behind the house.");
      expect((await messagesOf(id)).map(({ content }) => content)).toContain("At nine.");
    } finally {
      const forget = "mutation { setModelCredential(input: { provider: OPENAI }) { provider } }";
      await running.api.gql(forget);
      await model.stop();
    }
  });

  test("returns one answer to messages that were answered together, which covers each of them", async () => {
    const resources = "Opening hours\nMonday to Friday.\n\nParking\nBehind the house.\n\nDogs\nAre welcome.";
    const { id } = await running.api.post(CHATS, { assistantId: await assistant({ resources }) }, 201);
    const questions = ["When do you open?", "Where can I park?", "Are dogs welcome?"];
    const wanted = ["Monday to Friday", "Behind the house", "welcome"];
    const replies = await Promise.all(questions.map((question) => replyTo(id, question)));
    replies.forEach(({ content }, index) => expect(content).toContain(wanted[index]));
  });
});

describe("variables without a value", () => {
  const parameters = {
    type: "object",
    properties: { at: { type: "string", description: "In {zone}", pattern: "^{digit}$" } },
  };
  const texts = {
    initialMessage: "Hello {name}",
    prompt: "You work for {company} and greet {name}. {known}",
    functions: [{ name: "f", description: "{what}", parameters }],
  };
  const ALL =
    "Variables without a value stay as written: {name} in initialMessage and prompt, {company} in prompt, {what} in functions, {zone} in functions. Set them in variables of this request or of the assistant.";
  const GREETING =
    "Variables without a value stay as written: {name} in initialMessage. Set them in variables of this request or of the assistant.";
  const phoneNumber = "+41445550100";
  const page = () => running.api.as({ "X-Public-Key": running.publicKey });

  async function speaker(): Promise<string> {
    const id = await assistant(texts, { name: "Ada", variables: { known: 1 } });
    await running.api.patch(`/rest/v1/assistants/${id}/voice`, texts, 200);
    return id;
  }

  const REST: [string, object][] = [
    ["/rest/v1/ai-chats", {}],
    ["/rest/v1/call/phone", { phoneNumber }],
    ["/rest/v1/assistants/phone-calls/initiate", { phoneNumber }],
    ["/rest/v1/call/web", {}],
    ["/rest/v2/call/web", {}],
  ];

  test.each(REST)("are named in the header Warning of POST %s", async (path, body) => {
    const assistantId = await speaker();
    const answer = await running.api.request("POST", path, { assistantId, ...body });
    expect([answer.status, answer.headers.get("warning")]).toEqual([answer.status, `299 parley "${ALL}"`]);
    expect(answer.status).toBeLessThan(300);
  });

  test.each(REST)("with a value are not: POST %s", async (path, body) => {
    const variables = { name: "Bea", company: "Acme", what: "w", zone: "UTC" };
    const answer = await running.api.request("POST", path, {
      assistantId: await speaker(),
      variables,
      ...body,
    });
    expect([answer.status < 300, answer.headers.get("warning")]).toEqual([true, null]);
  });

  test("are named for a deployment's assistant in POST /rest/v2/call/phone", async () => {
    const assistantId = await speaker();
    const create = `mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }`;
    const input = { type: "PHONE_OUTBOUND", assistantId };
    const { createDeployment } = await running.api.gql(create, { input });
    const body = { deploymentId: createDeployment.id, phoneNumber };
    const answer = await running.api.request("POST", "/rest/v2/call/phone", body);
    expect(answer.headers.get("warning")).toBe(`299 parley "${ALL}"`);
  });

  test.each([
    ["startChat", "StartChatInput", {}],
    ["placeAssistantCall", "PlaceAssistantCallInput", { phoneNumber }],
    ["startWebCall", "StartWebCallInput", {}],
  ])("are named in extensions.warnings of %s", async (name, type, body) => {
    const query = `mutation ($input: ${type}!) { ${name}(input: $input) { id } }`;
    const input = { assistantId: await speaker(), ...body };
    const { body: answer } = await running.api.request("POST", "/graphql", { query, variables: { input } });
    expect(answer.extensions.warnings).toEqual([ALL]);
  });

  test("of the prompt are not named to a web page, only those that the greeting shows", async () => {
    const assistantId = await speaker();
    const called = await page().request("POST", "/rest/v1/call/web", { assistantId });
    expect(called.headers.get("warning")).toBe(`299 parley "${GREETING}"`);
    const open = `mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token } }`;
    const session = await running.api
      .as({ "X-API-Key": running.publicKey })
      .gql(open, { input: { assistantId } });
    const visitor = running.api.as({ Authorization: `Bearer ${session.startWidgetSession.token}` });
    const query = `mutation { startWidgetChat(input: {}) { id } }`;
    const { body } = await visitor.request("POST", "/graphql", { query });
    expect(body.extensions.warnings).toEqual([GREETING]);
  });

  test("are at most ten in a warning, with at most 60 characters each", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `{v${index}${"x".repeat(index === 0 ? 500 : 0)}}`);
    const assistantId = await assistant({ initialMessage: names.join(" "), prompt: "p" });
    const answer = await running.api.request("POST", CHATS, { assistantId });
    const warning = answer.headers.get("warning")!;
    expect(warning).toContain("and 2 more");
    expect(warning.length).toBeLessThan(600);
  });
});
