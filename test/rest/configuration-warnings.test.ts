import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";

const running = useApp();
const closed = useApp({ OUTBOUND_ALLOW: "127.0.0.2,shop.localhost" });

const withModel = useApp({ MODEL_NAME: "own-model", MODEL_BASE_URL: "http://127.0.0.1:9/v1" });

const PAY = {
  name: "pay",
  description: "Pays.",
  parameters: { type: "object", properties: {} },
  serverUrl: "https://example.com/pay",
};
const FUNCTIONS = [{ nam: "x" }, PAY, PAY];
const LONG = "Line of our price list. ".repeat(900);
const CUT = /resources: In the channel \w+, models get only the first 16000 of 21600 characters/;
const WITHDRAWN = /model: .* GPT_3_5_TURBO is answered by its closest successor/;

test.each<[string, Record<string, unknown>, RegExp[]]>([
  ["chat", { provider: "GROQ", model: "GPT_4_O_MINI" }, [/provider: GPT_4_O_MINI is served by OPENAI/]],
  ["sms", { provider: "GROQ" }, [/provider: .* is served by OPENAI, not by GROQ/]],
  ["voice", { voice: "nova", voiceProvider: "ELEVENLABS" }, [/voiceProvider: The voice nova belongs to/]],
  [
    "chat",
    { functions: FUNCTIONS },
    [/functions\.0: The function .* is never offered/, /functions\.2: .* twice/],
  ],
  ...["chat", "sms", "voice"].map((part): [string, Record<string, unknown>, RegExp[]] => [
    part,
    { resources: LONG },
    [CUT],
  ]),
  ["chat", { provider: "OPENAI", model: "GPT_3_5_TURBO" }, [WITHDRAWN]],
  ["voice", { provider: "OPENAI", model: "GPT_3_5_TURBO" }, [WITHDRAWN]],
  [
    "theme",
    { theme: { primaryColor: "notacolor" } },
    [/"theme\.primaryColor: The value must be .* ignores it/],
  ],
  [
    "theme",
    { theme: { primaryColour: "teal", "launcher-text": "Chat", plan: "gold", titles: [], title: "Ada" } },
    [
      /"theme\.primaryColour: The widget does not know this key\. Did you mean primaryColor\?"/,
      /theme\.launcher-text: .* launcherText\?/,
    ],
  ],
])("a PATCH of %s with %j names what does not work in Warning headers", async (part, change, expected) => {
  const id = await newAssistant(running.api, { name: "Ada" });
  const { status, headers } = await running.api.request("PATCH", `/rest/v1/assistants/${id}/${part}`, change);
  const warning = headers.get("warning") ?? "";
  expect(status).toBe(200);
  for (const text of expected) expect(warning).toMatch(text);
  expect(warning.match(/299 parley/g)).toHaveLength(expected.length);
  const stored = await running.api.get(`/rest/v1/assistants/${id}/${part}`, 200);
  expect(stored).toMatchObject(change);
  const other = await running.api.request("PATCH", `/rest/v1/assistants/${id}`, { description: "Changed" });
  expect(other.headers.get("warning")).toBeNull();
});

test("the same in GraphQL, and when retrieval is switched off", async () => {
  const { api } = running;
  const assistantId = await newAssistant(api, { name: "Ada" });
  const ask = async (isRagEnabled: boolean) => {
    const query = `mutation ($id: ID!, $input: UpdateRagSettingsInput!) {
      updateRagSettings(assistantId: $id, channel: TEXT, input: $input) { isRagEnabled } }`;
    const variables = { id: assistantId, input: { isRagEnabled } };
    return (await api.request("POST", "/graphql", { query, variables })).body;
  };
  expect((await ask(true)).extensions?.warnings).toBeUndefined();
  const { headers } = await api.request("PATCH", `/rest/v1/assistants/${assistantId}/chat`, {
    resources: LONG,
  });
  expect(headers.get("warning")).toBeNull();
  expect(await ask(false)).toMatchObject({
    data: { updateRagSettings: { isRagEnabled: false } },
    extensions: { warnings: [expect.stringMatching(CUT)] },
  });
});

test("a withdrawn model is not named if MODEL_NAME answers for it", async () => {
  const { api } = withModel;
  const id = await newAssistant(api, { name: "Ada" });
  const change = { provider: "OPENAI", model: "GPT_3_5_TURBO" };
  const { headers } = await api.request("PATCH", `/rest/v1/assistants/${id}/chat`, change);
  expect(headers.get("warning")).toBeNull();
  const { assistant } = await api.gql(GET, { id });
  expect(assistant.configurationWarnings).toEqual([]);
});

const AT = "https://example.com/f";
const nested = { type: "function", function: { name: "f" } };

/** Functions whose calls reach no server, and why. */
const WITHOUT_SERVER: readonly (readonly [item: object, why: string])[] = [
  [{ name: "f" }, "it has no serverUrl."],
  [{ name: "f", serverUrl: AT, secretKey: "abc\n" }, "its secretKey has a line break or another character"],
  [{ ...nested, server: { url: AT, secret: "a\nb" } }, "its server.secret has a line break"],
  [{ name: "f", serverUrl: "" }, "it has no serverUrl."],
  [{ name: "f", serverUrl: 5 }, "its serverUrl is not a text."],
  ...["server_url", "serverURL", "servrUrl", "serverUri", "url", "uri", "endpoint", "server"].map(
    (key) => [{ name: "f", [key]: AT }, `it has ${key}, but no serverUrl. Did you mean serverUrl?`] as const,
  ),
  [{ name: "f", server: { url: AT } }, "it has server.url, but no serverUrl. Did you mean serverUrl?"],
  [nested, "it has no server.url."],
  [{ ...nested, server: { uri: AT } }, "it has server.uri, but no server.url. Did you mean server.url?"],
  [{ ...nested, serverUrl: AT }, "it has serverUrl, but no server.url. Did you mean server.url?"],
  [
    { type: "function", function: { name: "f", serverUrl: AT } },
    "it has function.serverUrl, but no server.url. Did you mean server.url?",
  ],
  [
    { name: "f", serverUrl: "not a url" },
    "its serverUrl must be a URL that begins with http:// or https://.",
  ],
  [{ ...nested, server: { url: "ftp://example.com" } }, "its server.url must be a URL"],
  [
    { name: "f", serverUrl: "http://10.0.0.1/f" },
    "its serverUrl must not be a private, local or reserved address, unless",
  ],
];

const GET = `query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel code path message } } }`;
const MUTATIONS: Readonly<Record<string, string>> = {
  chat: "updateChatConfiguration",
  voice: "updateVoiceConfiguration",
  sms: "updateSmsConfiguration",
};
const CHANNELS: Readonly<Record<string, string>> = { chat: "TEXT", voice: "VOICE", sms: "SMS" };

test.each(Object.keys(MUTATIONS))(
  "a function without a usable address of its server is stored as sent, and named: %s",
  async (part) => {
    const { api } = running;
    const id = await newAssistant(api, { name: "Ada" });
    const document = `mutation ($id: ID!, $input: Update${MUTATIONS[part]!.slice(6)}Input!) {
      ${MUTATIONS[part]}(assistantId: $id, input: $input) { functions } }`;
    for (const [item, why] of WITHOUT_SERVER) {
      const change = { functions: [item] };
      const expected = expect.stringContaining(`The function f cannot be called: ${why}`);
      const { headers, body } = await api.request("PATCH", `/rest/v1/assistants/${id}/${part}`, change);
      expect(body.functions).toEqual([item]);
      expect([item, headers.get("warning")]).toEqual([item, expected]);
      const answer = await api.request("POST", "/graphql", {
        query: document,
        variables: { id, input: change },
      });
      expect([item, answer.body.extensions?.warnings]).toEqual([item, [expected]]);
      const { assistant } = await api.gql(GET, { id });
      expect(assistant.configurationWarnings).toEqual([
        { channel: CHANNELS[part], code: "FUNCTION_WITHOUT_SERVER", path: "functions.0", message: expected },
      ]);
    }
    const change = { functions: [PAY, { ...nested, server: { url: AT } }] };
    const { headers } = await api.request("PATCH", `/rest/v1/assistants/${id}/${part}`, change);
    expect(headers.get("warning")).toBeNull();
  },
);

test("names of this host count as private addresses, unless they are allowed", async () => {
  const { api } = closed;
  const id = await newAssistant(api, { name: "Ada" });
  const warned = async (serverUrl: string) => {
    const change = { functions: [{ name: "f", serverUrl }] };
    return (await api.request("PATCH", `/rest/v1/assistants/${id}/chat`, change)).headers.get("warning");
  };
  for (const url of ["http://localhost:3000/", "http://LOCALHOST./f", "http://a.localhost/", "http://[::1]/"])
    expect([url, await warned(url)]).toEqual([url, expect.stringContaining("must not be a private, local")]);
  for (const url of ["http://127.0.0.2/", "http://shop.localhost/", "https://localhost.example.com/"])
    expect([url, await warned(url)]).toEqual([url, null]);
});

test("many warnings are counted, so that the headers stay short", async () => {
  const id = await newAssistant(running.api, { name: "Ada" });
  const functions = Array.from({ length: 64 }, (_, at) => ({ name: `f${at}` }));
  const { headers } = await running.api.request("PATCH", `/rest/v1/assistants/${id}/chat`, { functions });
  expect(headers.get("warning")!.match(/299 parley/g)).toHaveLength(17);
  expect(headers.get("warning")).toContain("48 more warnings: see configurationWarnings of the assistant.");
});
