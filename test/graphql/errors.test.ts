import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat, UNKNOWN_ID } from "../support/factories";

const running = useApp();

describe("an error", () => {
  test.each([
    ["query ($id: ID!) { assistant(id: $id) { id } }", "ASSISTANT_NOT_FOUND"],
    ["mutation ($id: ID!) { deleteAssistant(id: $id) { id } }", "ASSISTANT_NOT_FOUND"],
    ["query ($id: ID!) { chat(id: $id) { id } }", "CHAT_NOT_FOUND"],
    ["query ($id: ID!) { log(assistantId: $id, id: $id) { id } }", "LOG_NOT_FOUND"],
    ["query ($id: ID!) { key(id: $id) { id } }", "KEY_NOT_FOUND"],
    ["mutation ($id: ID!) { deleteWebhookDestination(id: $id) { id } }", "WEBHOOK_DESTINATION_NOT_FOUND"],
    ["mutation ($id: ID!) { deleteFile(id: $id) { id } }", "FILE_NOT_FOUND"],
  ])("of %s has the code %s and the request id", async (query, code) => {
    const { status, body } = await running.api.graphql(query, { id: UNKNOWN_ID });
    expect(status).toBe(200);
    expect(body.errors).toEqual([
      {
        message: expect.stringMatching(/\.$/),
        locations: expect.any(Array),
        path: expect.any(Array),
        extensions: { code, requestId: expect.any(String) },
      },
    ]);
  });

  test("distinguishes a missing credential from an insufficient one", async () => {
    const query = "{ keys { id } }";
    expect((await running.api.as({}).gqlError(query)).extensions.code).toBe("UNAUTHENTICATED");
    const widget = running.api.as({ "X-API-Key": running.publicKey });
    expect((await widget.gqlError(query)).extensions.code).toBe("FORBIDDEN");
  });

  test("about a whole request is in the place for GraphQL clients and in the usual one", async () => {
    const { status, body } = await running.api
      .as({ "X-API-Key": "unknown" })
      .request("POST", "/graphql", { query: "{ organization { id } }" });
    const { message, code, requestId } = body;
    expect(status).toBe(401);
    expect(body).toMatchObject({ statusCode: 401, code: "UNAUTHENTICATED" });
    expect(body.errors).toEqual([{ message, extensions: { code, requestId } }]);
  });

  test("about an ended chat is CHAT_ENDED on both interfaces", async () => {
    const { api } = running;
    const chat = await newChat(api, await newAssistant(api));
    await endChat(api, chat);
    const input = { aiChatId: chat, role: "USER", channel: "TEXT", content: "x", metadata: {} };
    const post = "mutation ($input: PostMessageInput!) { postMessage(input: $input) { id } }";
    const error = await api.gqlError(post, { input });
    const { code, message } = await api.post("/rest/v1/ai-chats/messages", input, 409);
    expect([error.extensions.code, error.message]).toEqual([code, message]);
  });

  test("about invalid values lists each by its path", async () => {
    const create =
      "mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }";
    const { extensions } = await running.api.gqlError(create, {
      input: { url: "", secret: "x".repeat(4097) },
    });
    expect(extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [
        { path: "input.url", message: expect.any(String) },
        { path: "input.secret", message: expect.any(String) },
      ],
    });
  });

  test.each([
    ["{ nothing }", "GRAPHQL_VALIDATION_FAILED"],
    ["{ assistants {", "GRAPHQL_PARSE_FAILED"],
    ["query ($page: Int) { assistants(page: $page) { data { id } } }", "BAD_USER_INPUT"],
  ])("about the document %s has the code %s and status 400", async (query, code) => {
    const { status, body } = await running.api.graphql(query, { page: "one" });
    expect([status, body.errors[0].extensions.code]).toEqual([400, code]);
  });

  test.each([
    ["after", "a cursor of another page", "zzz", "{ calls(after: VALUE) { nodes { id } } }"],
    ["after", "a cursor of another page", "", "{ logs(after: VALUE) { nodes { id } } }"],
    ["after", "a cursor of another page", "2026/1", "{ events(after: VALUE) { nodes { id } } }"],
    [
      "before",
      "an id from an earlier response",
      "zzz",
      "query ($id: ID!) { chat(id: $id) { messages(before: VALUE) { id } } }",
    ],
  ])("about an invalid position names it: %s must be %s, not %j", async (path, expected, value, text) => {
    const query = text.replace("VALUE", JSON.stringify(value));
    const { api } = running;
    const id = await newChat(api, await newAssistant(api));
    const { extensions } = await api.gqlError(query, query.includes("$id") ? { id } : {});
    const details = [{ path, message: `must be ${expected}; got ${JSON.stringify(value)}` }];
    expect(extensions).toMatchObject({ code: "BAD_USER_INPUT", details });
  });

  test("about a literal in the document includes the value and its position", async () => {
    const query = 'mutation { createAssistant(input: { name: "Ada", variables: [1] }) { id } }';
    const { message, locations } = await running.api.gqlError(query);
    expect(message).toBe('Expected value of type "JSONObject", found [1]; must be a JSON object');
    expect(locations).toEqual([{ line: 1, column: query.indexOf("[1]") + 1 }]);
  });

  test("in one field leaves the results of the others", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    const document = `query ($id: ID!) { one: assistant(id: $id) { id } organization { id } }`;
    const { body } = await api.graphql(document, { id });
    expect(body.errors).toBeUndefined();
    expect(body.data.one).toEqual({ id });
  });
});

test("a warning is in extensions.warnings, and in a header on REST", async () => {
  const { api, secretKey } = await running.otherOrganization();
  const { keys } = await api.gql("{ keys { id value } }");
  const { id } = (keys as { id: string; value: string }[]).find(({ value }) => value === secretKey)!;
  const spare = await api.post("/rest/v1/organization/keys", {}, 200);
  const off = "mutation ($id: ID!) { updateKey(id: $id, input: { status: INACTIVE }) { status } }";
  const quiet = await api.graphql(off, { id: spare.id });
  expect(quiet.body.extensions).not.toHaveProperty("warnings");
  const { body } = await api.graphql(off, { id });
  expect(body.data.updateKey.status).toBe("INACTIVE");
  expect(body.extensions.warnings).toEqual([expect.stringContaining("no active SECRET key")]);
});
