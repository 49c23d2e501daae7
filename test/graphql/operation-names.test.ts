import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, newChat, say } from "../support/factories";
import { Subscriber } from "../support/subscriber";

const running = useApp();
const open: Subscriber[] = [];
afterEach(() => Promise.all(open.splice(0).map((subscriber) => subscriber.close())));

const query = `
  query Names { organization { ...Part } }
  query Many { assistants(take: 100) { data { chats(first: 100) { nodes { id } } } } }
  mutation Create($input: CreateAssistantInput!) { createAssistant(input: $input) { name } }
  fragment Part on Organization { id }`;

type Sent = Record<string, unknown>;
const ways = {
  "JSON by POST": (sent: Sent) => running.api.request("POST", "/graphql", sent),
  GET: ({ operationName, variables, query }: Sent) => {
    const search = new URLSearchParams({ query: String(query) });
    if (typeof operationName === "string") search.set("operationName", operationName);
    if (variables) search.set("variables", JSON.stringify(variables));
    return running.api.request("GET", `/graphql?${search.toString()}`, undefined, {
      Accept: "application/json",
    });
  },
  multipart: (sent: Sent) => {
    const form = new FormData();
    form.set("operations", JSON.stringify(sent));
    form.set("map", "{}");
    return running.api.request("POST", "/graphql", form);
  },
};

describe.each(Object.entries(ways))("a document with several operations, sent as %s,", (way, send) => {
  test("runs the one that operationName names, and none of the others", async () => {
    const { status, body } = await send({ query, operationName: "Names" });
    expect([status, body.errors, Object.keys(body.data)]).toEqual([200, undefined, ["organization"]]);
    expect(body.extensions.cost.requested).toBeLessThan(10);
  });

  test.each([[undefined], [null], [""], ["names"]])(
    "is refused with operationName %j, with the known names",
    async (operationName) => {
      const { status, body } = await send({ query, operationName });
      const [{ message, extensions }] = body.errors;
      expect([status, extensions.code, extensions.details[0].path]).toEqual([
        400,
        "BAD_USER_INPUT",
        "operationName",
      ]);
      expect(message).toContain("Name one of its operations with operationName: Names, Many, Create.");
    },
  );

  if (way !== "GET")
    test("needs only the variables of the named operation", async () => {
      const variables = { input: { name: "Named" } };
      const { body } = await send({ query, operationName: "Create", variables });
      expect(body.data).toEqual({ createAssistant: { name: "Named" } });
    });
});

test("the same document runs each of its operations in turn", async () => {
  const both = "query A { a: __typename } query B { b: __typename }";
  for (const operationName of ["A", "B", "A"]) {
    const { body } = await running.api.request("POST", "/graphql", { query: both, operationName });
    expect(Object.keys(body.data)).toEqual([operationName.toLowerCase()]);
  }
});

test("a name is refused for a document that has no named operation", async () => {
  const { body } = await running.api.request("POST", "/graphql", {
    query: "{ __typename }",
    operationName: "A",
  });
  expect(body.errors[0].message).toBe('The document contains no operation "A". Omit operationName.');
});

describe("over a WebSocket, a document with several operations", () => {
  const query = `
    subscription Watch($chat: ID!, $after: ID) { chatEvents(chatId: $chat, after: $after) { message { content } } }
    query Other { organization { id } }`;
  const subscriber = () => {
    const made = new Subscriber(running.url, { "X-API-Key": running.secretKey });
    open.push(made);
    return made;
  };

  test("follows the subscription that operationName names", async () => {
    const chat = await newChat(running.api, await newAssistant(running.api));
    const first = await say(running.api, chat, "before", "SYSTEM");
    const seen = new Promise((resolve) => {
      void subscriber().send({ query, operationName: "Watch", variables: { chat, after: first } }, resolve);
    });
    await say(running.api, chat, "seen", "SYSTEM");
    expect(await seen).toEqual({ chatEvents: { message: { content: "seen" } } });
  });

  test.each([undefined, "watch"])(
    "is refused with operationName %s, with the known names",
    async (operationName) => {
      const errors = await subscriber().send(
        { query, operationName, variables: { chat: "x" } },
        () => undefined,
      );
      expect(JSON.stringify(errors)).toContain(
        "Name one of its operations with operationName: Watch, Other.",
      );
    },
  );
});
