import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  ApolloClient,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
  type InMemoryCacheConfig,
} from "@apollo/client";
import ts from "typescript";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { snippetsOf } from "../support/snippets";
import { until } from "../support/until";

const running = useApp();
let assistantId: string;
beforeAll(async () => {
  assistantId = await newAssistant(running.api);
});

/** An Apollo Client with the documented cache. */
function apollo() {
  const { code } = snippetsOf("docs/graphql-clients.md").find((snippet) =>
    snippet.code.includes("InMemoryCache"),
  )!;
  const options = /new InMemoryCache\((.*)\)/s.exec(ts.transpile(code))![1]!;
  const cache = new InMemoryCache(evaluated(options));
  const link = new HttpLink({ uri: `${running.url}/graphql`, headers: { ...running.api.headers } });
  return new ApolloClient({ link, cache });
}

// eslint-disable-next-line @typescript-eslint/no-implied-eval -- reads the documented options as written
const evaluated = (text: string) => new Function(`return ${text}`)() as InMemoryCacheConfig;

const CONFIGURATION = "query ($id: ID!) { assistant(id: $id) { id";
type Case = [name: string, watched: string, mutation: string, value: Record<string, unknown>];
const cases: Case[] = [
  [
    "updateVoiceConfiguration",
    `${CONFIGURATION} voice { id prompt } } }`,
    `mutation ($id: ID!) { updateVoiceConfiguration(assistantId: $id, input: { prompt: "new" }) { id prompt } }`,
    { assistant: { voice: { prompt: "new" } } },
  ],
  [
    "updateSmsConfiguration",
    `${CONFIGURATION} sms { id keywords } } }`,
    `mutation ($id: ID!) { updateSmsConfiguration(assistantId: $id, input: { keywords: "new" }) { id keywords } }`,
    { assistant: { sms: { keywords: "new" } } },
  ],
  [
    "updateChatConfiguration",
    `${CONFIGURATION} chat { id initialMessage } } }`,
    `mutation ($id: ID!) { updateChatConfiguration(assistantId: $id, input: { initialMessage: "new" }) { id initialMessage } }`,
    { assistant: { chat: { initialMessage: "new" } } },
  ],
  [
    "updateThemeConfiguration",
    `${CONFIGURATION} theme { id mode } } }`,
    `mutation ($id: ID!) { updateThemeConfiguration(assistantId: $id, input: { mode: CHAT_ONLY }) { id mode } }`,
    { assistant: { theme: { mode: "CHAT_ONLY" } } },
  ],
  [
    "updateAllowedOrigins",
    `${CONFIGURATION} theme { id allowedOrigins } } }`,
    `mutation ($id: ID!) { updateAllowedOrigins(assistantId: $id, origins: ["https://new.example"]) { id allowedOrigins } }`,
    { assistant: { theme: { allowedOrigins: ["https://new.example"] } } },
  ],
  [
    "updateRagSettings",
    `${CONFIGURATION} voice { id forceRag } } }`,
    `mutation ($id: ID!) { updateRagSettings(assistantId: $id, channel: VOICE, input: { forceRag: true }) { id configuration { id forceRag } } }`,
    { assistant: { voice: { forceRag: true } } },
  ],
  [
    "updateAssistant",
    `${CONFIGURATION} name } }`,
    `mutation ($id: ID!) { updateAssistant(id: $id, input: { name: "new" }) { id name } }`,
    { assistant: { name: "new" } },
  ],
  [
    "updateRetention",
    "{ organization { id retention { id logsDays } } }",
    "mutation { updateRetention(input: { logsDays: 12000 }) { id logsDays } }",
    { organization: { retention: { logsDays: 12000 } } },
  ],
];

describe("the documented cache of Apollo Client shows a change without a second request, after", () => {
  test.each(cases)("%s", async (_name, watched, mutation, value) => {
    const client = apollo();
    const variables = { id: assistantId };
    const shown: object[] = [];
    const subscription = client
      .watchQuery({ query: gql(watched), variables })
      .subscribe(({ data }) => void (data && shown.push(data as object)));
    await until(() => shown.length > 0);
    expect(shown[0]).not.toMatchObject(value);
    await client.mutate({ mutation: gql(mutation), variables });
    await until(() => shown.length > 1);
    subscription.unsubscribe();
    expect(shown.at(-1)).toMatchObject(value);
  });
});

test("Apollo Client shows what it has refetched by the ids of records", async () => {
  const client = apollo();
  const id = await newAssistant(running.api, { name: "Ada" });
  const shown: object[] = [];
  const subscription = client
    .watchQuery({
      query: gql`
        query ($id: ID!) {
          assistant(id: $id) {
            id
            name
            chat {
              id
              prompt
            }
          }
        }
      `,
      variables: { id },
    })
    .subscribe(({ data }) => void (data && shown.push(data as object)));
  await until(() => shown.length > 0);
  await running.api.patch(`/rest/v1/assistants/${id}`, { name: "Grace" }, 200);
  await running.api.patch(`/rest/v1/assistants/${id}/chat`, { prompt: "new" }, 200);
  const { code } = snippetsOf("docs/graphql-clients.md").find((snippet) =>
    snippet.code.includes("nodes(ids:"),
  )!;
  const [, document] = /gql`(.*?)`/s.exec(code)!;
  await client.query({
    query: gql(document!),
    variables: { ids: [id, `${id}.chat`] },
    fetchPolicy: "network-only",
  });
  const fresh = { assistant: { name: "Grace", chat: { prompt: "new" } } };
  await until(() => JSON.stringify(shown.at(-1)).includes("Grace"));
  subscription.unsubscribe();
  expect(shown.at(-1)).toMatchObject(fresh);
});

test("Apollo Client shows the other fields of a page with one wrong id", async () => {
  const query = gql`
    query ($id: ID!, $wrong: ID!) {
      assistant(id: $id) {
        id
      }
      gone: assistant(id: $wrong) {
        id
      }
    }
  `;
  const { data, error } = await apollo().query({
    query,
    variables: { id: assistantId, wrong: UNKNOWN_ID },
    errorPolicy: "all",
  });
  expect(data).toMatchObject({ assistant: { id: assistantId }, gone: null });
  expect(error).toMatchObject({ errors: [{ path: ["gone"], extensions: { code: "ASSISTANT_NOT_FOUND" } }] });
});

test("Apollo Client reads the code of a request that is refused before its operation runs", async () => {
  const asked = (headers: Record<string, string>) =>
    new ApolloClient({
      link: new HttpLink({ uri: `${running.url}/graphql`, headers }),
      cache: new InMemoryCache(),
    })
      .query({ query: gql("{ organization { id } }") })
      .catch((error: unknown) => error);
  const wrong: Record<string, string>[] = [{ "X-API-Key": "unknown" }, { Authorization: "Bearer unknown" }];
  for (const headers of wrong) {
    const error = await asked(headers);
    expect([CombinedGraphQLErrors.is(error), error]).toEqual([
      true,
      expect.objectContaining({
        errors: [
          expect.objectContaining({ extensions: expect.objectContaining({ code: "UNAUTHENTICATED" }) }),
        ],
      }),
    ]);
  }
});

test.each([
  ["application/graphql-response+json", "application/graphql-response+json"],
  ["application/graphql-response+json, application/json;q=0.9", "application/graphql-response+json"],
  ["application/json, application/graphql-response+json;q=0.9", "application/json"],
  ["*/*", "application/json"],
  ["text/plain", "application/json"],
])("for %s, refused requests are answered in %s", async (Accept, type) => {
  const refused: [object, unknown][] = [
    [{ "X-API-Key": "unknown" }, { query: "{ organization { id } }" }],
    [running.api.headers, "{"],
    [running.api.headers, { query: `{ ${"a ".repeat(40_000)} }` }],
  ];
  for (const [headers, body] of refused) {
    const { api } = running;
    const answer = await api
      .as({ ...headers, Accept, "Content-Type": "application/json" })
      .request("POST", "/graphql", body);
    expect([answer.headers.get("content-type"), answer.headers.get("vary")]).toEqual([
      `${type}; charset=utf-8`,
      expect.stringContaining("Accept"),
    ]);
    expect(JSON.parse(answer.text)).toMatchObject({
      errors: [{ extensions: { code: expect.any(String), requestId: expect.any(String) } }],
    });
  }
});
