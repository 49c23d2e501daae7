import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { REFUSALS } from "../support/refusals";
import { Subscriber } from "../support/subscriber";

const running = useApp();

describe("errors of /graphql have a code, the request id and details", () => {
  // Wraps each row, because jest would pass a callback in place of missing details.
  test.each(REFUSALS.map((row) => [row[0], row] as const))(
    "%s",
    async (_name, [, sent, status, code, details]) => {
      const { method = "POST", path = "", body, headers } = sent;
      const answer = await running.api.request(method, `/graphql${path}`, body, headers ?? {});
      expect([answer.text, answer.status]).toEqual([answer.text, status]);
      const requestId = answer.headers.get("x-request-id");
      expect(requestId).toEqual(expect.any(String));
      for (const { extensions } of answer.body.errors) expect(extensions.requestId).toBe(requestId);
      const { extensions } = answer.body.errors[0];
      expect(extensions.code).toBe(code);
      expect(extensions.details).toEqual(details);
    },
  );

  test("several invalid variables, each by its path", async () => {
    const text = "query ($page: Int, $take: Int) { assistants(page: $page, take: $take) { data { id } } }";
    const { body } = await running.api.graphql(text, { page: "one", take: true });
    const paths = (body.errors as { extensions: { details: { path: string }[] } }[]).map(
      ({ extensions }) => extensions.details[0]!.path,
    );
    expect(paths).toEqual(["page", "take"]);
  });
});

interface Document {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly operationName?: string;
}

/** The body as an operation that graphql-ws can send; undefined if the protocol itself refuses it. */
function documentIn(body: unknown): Document | undefined {
  const { query, variables } = Object(body) as Record<string, unknown>;
  if (typeof query !== "string" || (variables !== undefined && typeof variables !== "object"))
    return undefined;
  return body as Document;
}

const FOLLOW = "subscription ($chatId: ID!) { chatEvents(chatId: $chatId) { id } }";
const DOCUMENTS: readonly (readonly [name: string, document: Document])[] = [
  ...REFUSALS.flatMap(([name, { body }, status]) => {
    const document = documentIn(body);
    // Rules of fields are checked during execution, and a subscription is valid over WebSocket.
    return document && status === 400 && name !== "a subscription by POST" ? [[name, document] as const] : [];
  }),
  ["a query that is too long", { query: `{ __typename }${" ".repeat(65_536)}` }],
  ["too many tokens", { query: `{ ${"id ".repeat(1_001)} }` }],
  [
    "too many aliases",
    { query: `{ ${Array.from({ length: 16 }, (_, n) => `a${n}: organization { id }`).join(" ")} }` },
  ],
  ["a misspelled field", { query: "{ assistantz { id } }" }],
];

describe("the WebSocket refuses a document with the same error as POST", () => {
  let subscriber: Subscriber;
  beforeAll(() => void (subscriber = new Subscriber(running.url, { "X-API-Key": running.secretKey })));
  afterAll(() => subscriber.close());
  /** Errors without their request id, which each of them must have. */
  const bare = (errors: unknown) =>
    (errors as { extensions: { requestId?: unknown } }[]).map(({ extensions, ...error }) => {
      const { requestId, ...rest } = extensions;
      expect(requestId).toEqual(expect.stringMatching(/^[0-9a-f-]{36}$/));
      return { ...error, extensions: rest };
    });

  test.each(DOCUMENTS.map((row) => [row[0], row] as const))("%s", async (_name, [, document]) => {
    const posted = await running.api.request("POST", "/graphql", document);
    const errors = await subscriber.send(document, () => undefined);
    expect(bare(errors)).toEqual(bare(posted.body.errors));
  });

  test.each([
    ["a variable that is missing", { query: FOLLOW }],
    ["a variable of another type", { query: FOLLOW, variables: { chatId: { a: 1 } } }],
    ["an unknown field", { query: "subscription { nothing }" }],
    ["an operationName that the document lacks", { query: FOLLOW, operationName: "B" }],
    ["a chat that is not there", { query: FOLLOW, variables: { chatId: "x" } }],
    ["a query", { query: "{ __typename }" }],
  ])("for a subscription too: %s", async (_name, document) => {
    const [refused] = bare(await subscriber.send(document, () => undefined));
    expect(refused!.extensions).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/) });
    expect(refused!.extensions).not.toMatchObject({ code: "INTERNAL" });
  });
});
