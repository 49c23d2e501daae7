import { afterAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { buildFlow } from "../support/flows";
import { closeRaw, rawRequest } from "../support/raw";

const running = useApp({ TRUST_PROXY: "127.0.0.1", RATE_LIMIT_VISITOR: "6" });
afterAll(closeRaw);

let clients = 0;
const newAddress = () => `198.51.100.${++clients}`;

interface PageAnswer {
  readonly status: number;
  readonly code: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}
type Open = (input: object, headers?: Record<string, string>) => Promise<PageAnswer>;

const send = async (path: string, body: object, headers: Record<string, string>) => {
  const answer = await rawRequest(running.url, {
    method: "POST",
    path,
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { ...answer, body: JSON.parse(answer.text) };
};

const rest =
  (path: string): Open =>
  async (input, headers = {}) => {
    const {
      status,
      body,
      headers: told,
    } = await send(path, input, {
      "X-Public-Key": running.publicKey,
      ...headers,
    });
    return { status, code: body.code, headers: told };
  };
const graphql: Open = async (input, headers = {}) => {
  const query = "mutation ($input: StartWebCallInput!) { startWebCall(input: $input) { webCallUrl } }";
  const {
    status,
    body,
    headers: told,
  } = await send("/graphql", { query, variables: { input } }, { "X-API-Key": running.publicKey, ...headers });
  return { status, code: body.errors?.[0].extensions.code, headers: told };
};

/** Status of a refusal, by interface. */
const INTERFACES: readonly (readonly [string, Open, (status: number) => number])[] = [
  ["POST /rest/v1/call/web", rest("/rest/v1/call/web"), (status) => status],
  ["POST /rest/v2/call/web", rest("/rest/v2/call/web"), (status) => status],
  ["startWebCall", graphql, (status) => (status === 429 ? 429 : 200)],
];

const SET = `mutation ($id: ID!, $origins: [String!]!) {
  updateAllowedOrigins(assistantId: $id, origins: $origins) { allowedOrigins } }`;
const allow = (id: string, origins: string[]) => running.api.gql(SET, { id, origins });

describe.each(INTERFACES)("%s", (_name, open, statusOf) => {
  /** An assistant, and a workflow with this assistant. */
  async function targets() {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const { workflowId } = await buildFlow(api, { assistantId });
    return { assistantId, inputs: [{ assistantId }, { workflowId }] };
  }

  test("opens calls for allowed origins and for requests without one, and refuses other origins", async () => {
    const { assistantId, inputs } = await targets();
    await allow(assistantId, ["https://shop.example"]);
    for (const input of inputs) {
      for (const headers of [{}, { Origin: "https://shop.example" }, { Origin: running.url }] as Record<
        string,
        string
      >[])
        expect(await open(input, headers)).toMatchObject({ status: 200, code: undefined });
      for (const origin of ["https://evil.example", "http://shop.example", "null"])
        expect({ origin, ...(await open(input, { Origin: origin })) }).toMatchObject({
          origin,
          status: statusOf(403),
          code: "FORBIDDEN",
        });
    }
    await allow(assistantId, []);
    expect(await open({ assistantId }, { Origin: "https://evil.example" })).toMatchObject({ status: 200 });
  });

  test("refuses calls if the theme's mode is CHAT_ONLY, and opens them in every other mode", async () => {
    const { assistantId, inputs } = await targets();
    const MODE = `mutation ($id: ID!, $mode: ThemeMode) {
      updateThemeConfiguration(assistantId: $id, input: { mode: $mode }) { mode } }`;
    for (const [mode, status, code] of [
      ["CHAT_ONLY", statusOf(409), "CHANNEL_DISABLED"],
      ["VOICE_ONLY", 200, undefined],
      ["VOICE_AND_CHAT", 200, undefined],
    ] as const) {
      await running.api.gql(MODE, { id: assistantId, mode });
      for (const input of inputs)
        expect({ mode, ...(await open(input)) }).toMatchObject({ mode, status, code });
    }
  });

  test("counts calls against RATE_LIMIT_VISITOR per address, each like three messages", async () => {
    const assistantId = await newAssistant(running.api);
    const address = newAddress();
    for (let count = 0; count < 20; count++)
      expect((await open({ assistantId }, { "X-Forwarded-For": address })).status).toBe(200);
    const refused = await open({ assistantId }, { "X-Forwarded-For": address });
    expect(refused).toMatchObject({
      status: 429,
      code: "RATE_LIMITED",
      headers: {
        "ratelimit-policy": expect.stringMatching(/^"address";q=60;w=60, /),
        "retry-after": expect.stringMatching(/^\d+$/),
      },
    });
    expect((await open({ assistantId }, { "X-Forwarded-For": newAddress() })).status).toBe(200);
  });
});

test("calls from pages and widget sessions of one address count together", async () => {
  const assistantId = await newAssistant(running.api);
  const address = newAddress();
  const SESSION =
    "mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { widget { name } } }";
  const begin = () =>
    send(
      "/graphql",
      { query: SESSION, variables: { input: { assistantId } } },
      { "X-API-Key": running.publicKey, "X-Forwarded-For": address },
    );
  for (let count = 0; count < 10; count++) {
    expect((await begin()).status).toBe(200);
    expect((await INTERFACES[0]![1]({ assistantId }, { "X-Forwarded-For": address })).status).toBe(200);
  }
  expect((await begin()).status).toBe(429);
  for (const [, open] of INTERFACES)
    expect((await open({ assistantId }, { "X-Forwarded-For": address })).status).toBe(429);
});
