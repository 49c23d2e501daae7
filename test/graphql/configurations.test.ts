import { describe, expect, test } from "@jest/globals";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { upload } from "../support/files";

const running = useApp();
const at = (id: string, kind: string) => `/rest/v1/assistants/${id}/${kind}`;

interface Warning {
  readonly channel: string;
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

describe("configurationWarnings", () => {
  /** Warnings after a change of a configuration. */
  async function warnings(kind: string, change: object, variables?: object): Promise<Warning[]> {
    const { api } = running;
    const id = await newAssistant(api, { name: "Ada", ...(variables && { variables }) });
    await api.patch(at(id, kind), change, 200);
    const document =
      "query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel path code message } } }";
    return (await api.gql(document, { id })).assistant.configurationWarnings as Warning[];
  }
  const brief = (list: Warning[]) => list.map(({ channel, path, code }) => `${channel} ${path} ${code}`);

  test.each([
    ["voice", { provider: "GROQ" }, "VOICE provider PROVIDER_MISMATCH"],
    ["chat", { provider: "GROQ" }, "TEXT provider PROVIDER_MISMATCH"],
    ["voice", { voice: "jennifer", voiceProvider: "OPENAI" }, "VOICE voiceProvider VOICE_MISMATCH"],
    ["chat", { prompt: "You work for {company}." }, "TEXT prompt UNRESOLVED_VARIABLE"],
    ["voice", { initialMessage: "Hi {user.first_name1}" }, "VOICE initialMessage UNRESOLVED_VARIABLE"],
    ["sms", { functions: [{ label: "x" }] }, "SMS functions.0 FUNCTION_NOT_UNDERSTOOD"],
    ["chat", { functions: [{ name: "look_up" }] }, "TEXT functions.0 FUNCTION_WITHOUT_SERVER"],
  ])("of %s after %j: %s", async (kind, change, expected) => {
    const found = await warnings(kind, change);
    expect(brief(found)).toEqual([expected]);
    expect(found[0]!.message).toMatch(/\.$/);
  });

  test.each(loadCatalog().models.map((model) => [model.id, model] as const))(
    "of the identifier %s name a successor of its model only if the provider has withdrawn it",
    async (model, { provider, model: name, succeeds }) => {
      const found = await warnings("voice", { provider, model });
      expect(brief(found)).toEqual(succeeds ? ["VOICE model MODEL_SUCCEEDED"] : []);
      for (const part of succeeds ? [succeeds.model, succeeds.source, name] : [])
        expect(found[0]!.message).toContain(part);
    },
  );

  test("disappear when provider and model match again", async () => {
    expect(await warnings("chat", { provider: "OPENAI", model: "GPT_4_O_MINI" })).toEqual([]);
    expect(await warnings("voice", { voice: "nova", voiceProvider: "OPENAI" })).toEqual([]);
  });

  test("consider the assistant's test values of variables, and name each variable once", async () => {
    const change = { prompt: "{a} {a} {b} {constructor} { c } {d-e} {}" };
    expect(
      (await warnings("chat", change, { a: "x" })).map(({ message }) => /\{[^}]*\}/.exec(message)?.[0]),
    ).toEqual(["{ c }", "{d-e}", "{b}", "{constructor}"]);
    expect(await warnings("chat", { prompt: "{a}" }, { a: null })).toEqual([]);
  });

  test("consider the parameters of functions, where variables are filled in", async () => {
    const { name, ...city } = { name: "{no}", type: "string", default: "{city}", pattern: "{no}" };
    const parameters = { type: "object", description: "For {company}", properties: { city, [name]: city } };
    const functions = [{ name: "f", serverUrl: "https://example.com", parameters }];
    const found = await warnings("sms", { functions }, { company: "Acme" });
    expect(brief(found)).toEqual(
      ["city", "{no}"].map(
        (key) => `SMS functions.0.parameters.properties.${key}.default UNRESOLVED_VARIABLE`,
      ),
    );
    expect(found[0]!.message).toContain("{city} has no test value");
  });

  test("name each function by its index, and duplicate names", async () => {
    const server = { serverUrl: "https://example.com" };
    const functions = [
      { name: "good", ...server },
      { type: "function", function: { name: "nested" }, server: { url: "https://example.com" } },
      { name: "good", ...server },
      { name: "not good!", ...server },
      { name: "odd", ...server, parameters: { type: "object", properties: { a: { type: "integer" } } } },
      { name: "asks", ...server, description: "For {company}" },
      { name: "no_pattern", ...server, parameters: { properties: { a: { type: "string", pattern: "(" } } } },
      { name: "no_schema", ...server, parameters: { properties: {}, minProperties: "one" } },
    ];
    expect(brief(await warnings("chat", { functions }))).toEqual([
      "TEXT functions.5.description UNRESOLVED_VARIABLE",
      "TEXT functions.2 FUNCTION_NOT_UNDERSTOOD",
      "TEXT functions.3 FUNCTION_NOT_UNDERSTOOD",
      "TEXT functions.4 FUNCTION_NOT_UNDERSTOOD",
      "TEXT functions.6 FUNCTION_NOT_UNDERSTOOD",
      "TEXT functions.7 FUNCTION_NOT_UNDERSTOOD",
    ]);
  });

  test("name each channel in which attached files are not used because isRagEnabled is off", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const warned = async (change: string, variables: object = {}) => {
      const shown = "configurationWarnings { channel path code message }";
      await api.gql(change, { assistantId, ...variables });
      return (await api.gql(`query ($id: ID!) { assistant(id: $id) { ${shown} } }`, { id: assistantId }))
        .assistant.configurationWarnings as Warning[];
    };
    const { id: fileId } = await upload(api);
    const file = (change: string) =>
      `mutation ($assistantId: ID!, $fileId: ID!) { ${change}(assistantId: $assistantId, fileId: $fileId) { id } }`;
    const settings = (channel: string) =>
      `mutation ($assistantId: ID!) { updateRagSettings(assistantId: $assistantId, channel: ${channel}, input: { isRagEnabled: true }) { isRagEnabled } }`;

    const attached = await warned(file("attachFile"), { fileId });
    expect(brief(attached)).toEqual(
      ["VOICE", "SMS", "TEXT"].map((channel) => `${channel} isRagEnabled FILES_WITHOUT_RAG`),
    );
    expect(attached[0]!.message).toContain("updateRagSettings");
    await api.patch(at(assistantId, "sms"), { smsMode: false }, 200);
    expect(brief(await warned(settings("TEXT")))).toEqual(["VOICE isRagEnabled FILES_WITHOUT_RAG"]);
    expect(await warned(settings("VOICE"))).toEqual([]);
    await api.patch(at(assistantId, "sms"), { smsMode: true }, 200);
    expect(brief(await warned(settings("TEXT")))).toEqual(["SMS isRagEnabled FILES_WITHOUT_RAG"]);
    expect(await warned(file("detachFile"), { fileId })).toEqual([]);
  });

  test("name resources that are too long and therefore truncated, because they are not searched", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    const warned = async (resources: string) => {
      await api.patch(at(id, "chat"), { resources }, 200);
      const query = "query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel path code } } }";
      return brief((await api.gql(query, { id })).assistant.configurationWarnings as Warning[]);
    };
    expect(await warned("x".repeat(16_000))).toEqual([]);
    expect(await warned("x".repeat(16_001))).toEqual(["TEXT resources RESOURCES_CUT"]);
    await api.gql(
      "mutation ($id: ID!) { updateRagSettings(assistantId: $id, channel: TEXT, input: { isRagEnabled: true }) { isRagEnabled } }",
      { id },
    );
    expect(await warned("x".repeat(16_002))).toEqual([]);
  });

  test("name RAG settings that have no effect without isRagEnabled", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    const update = async (input: string) => {
      const { body } = await api.graphql(
        `mutation ($id: ID!) { updateRagSettings(assistantId: $id, channel: TEXT, input: { ${input} }) { isRagEnabled } }`,
        { id },
      );
      const { assistant } = await api.gql(
        "query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel path code } } }",
        { id },
      );
      return { found: brief(assistant.configurationWarnings as Warning[]), told: body.extensions?.warnings };
    };
    const ignored = await update('forceRag: true, ragTriggerTopics: "price"');
    expect(ignored.found).toEqual([
      "TEXT forceRag RAG_SETTING_IGNORED",
      "TEXT ragTriggerTopics RAG_SETTING_IGNORED",
    ]);
    expect(ignored.told).toEqual([
      expect.stringMatching(/^forceRag: .*isRagEnabled/),
      expect.stringMatching(/^ragTriggerTopics: .*rag\.chat\.isRagEnabled/),
    ]);
    expect(await update("isRagEnabled: true")).toEqual({ found: [], told: undefined });
  });

  test("name an identifier that was removed from the catalog", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    await running.database.query(
      "update voice_configurations set model = 'GONE', voice = 'gone' where assistant_id = $1",
      [id],
    );
    const document =
      "query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel path code } } }";
    expect((await api.gql(document, { id })).assistant.configurationWarnings).toEqual([
      { channel: "VOICE", path: "model", code: "UNKNOWN_IDENTIFIER" },
      { channel: "VOICE", path: "voice", code: "UNKNOWN_IDENTIFIER" },
    ]);
  });
});

describe("updateRagSettings", () => {
  const FIELDS = "isRagEnabled forceRag ragTriggerTopics preserveRagResult";
  const UPDATE = `mutation ($id: ID!, $channel: Channel!, $input: UpdateRagSettingsInput!) {
    updateRagSettings(assistantId: $id, channel: $channel, input: $input) { ${FIELDS} } }`;
  const OFF = { isRagEnabled: false, forceRag: false, ragTriggerTopics: "", preserveRagResult: false };
  const CHANNELS: [string, string][] = [
    ["VOICE", "voice"],
    ["SMS", "sms"],
    ["TEXT", "chat"],
  ];

  test.each(CHANNELS)(
    "changes each field of %s and no other channel; REST shows it",
    async (channel, kind) => {
      const { api } = running;
      const id = await newAssistant(api);
      let expected: Record<string, unknown> = OFF;
      for (const input of [
        { isRagEnabled: true },
        { forceRag: true },
        { ragTriggerTopics: "prices,\nhours" },
        { preserveRagResult: true, forceRag: false },
      ]) {
        expected = { ...expected, ...input };
        expect((await api.gql(UPDATE, { id, channel, input })).updateRagSettings).toEqual(expected);
        expect(await api.get(at(id, kind), 200)).toMatchObject(expected);
      }
      for (const [, other] of CHANNELS.filter(([name]) => name !== channel))
        expect(await api.get(at(id, other), 200)).toMatchObject(OFF);
    },
  );

  test("refuses null, templates and unknown assistants", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    const refused = async (wanted: string, input: object) =>
      (await api.gqlError(UPDATE, { id: wanted, channel: "TEXT", input })).extensions.code;
    expect(await refused(id, { forceRag: null })).toBe("BAD_USER_INPUT");
    expect(await refused(UNKNOWN_ID, { forceRag: true })).toBe("ASSISTANT_NOT_FOUND");
    const [template] = (await api.get("/rest/v1/assistants/templates", 200)).data;
    expect(await refused(template.id, { forceRag: true })).toBe("TEMPLATE_READ_ONLY");
  });
});

describe("the mode of a theme", () => {
  const UPDATE = `mutation ($id: ID!, $input: UpdateThemeConfigurationInput!) {
    updateThemeConfiguration(assistantId: $id, input: $input) { theme mode } }`;

  test.each(["CHAT_ONLY", "VOICE_ONLY", "VOICE_AND_CHAT"])(
    "%s is set through GraphQL and returned by REST",
    async (mode) => {
      const { api } = running;
      const id = await newAssistant(api);
      await api.patch(at(id, "theme"), { theme: { title: "Ask" } }, 200);
      const expected = { theme: { title: "Ask" }, mode };
      expect((await api.gql(UPDATE, { id, input: { mode } })).updateThemeConfiguration).toEqual(expected);
      expect(await api.get(at(id, "theme"), 200)).toEqual(expected);
    },
  );

  test("is ignored in a PATCH, even if invalid", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    for (const mode of ["CHAT_ONLY", "NONE", null])
      expect(await api.patch(at(id, "theme"), { mode, theme: { title: "t" } }, 200)).toEqual({
        theme: { title: "t" },
        mode: "VOICE_AND_CHAT",
      });
  });
});
