import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import contract from "../../src/platform/catalog/catalog.json";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import {
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  SETTINGS,
  startServer,
} from "../support/server";

function catalogFile(content: unknown): string {
  const file = join(emptyFolder(), "catalog.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

function refusalOf(file: string): string {
  try {
    loadCatalog(file);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("The catalog was accepted.");
}

const withoutSms = contract.models.map(({ id }) => ({ id, channels: ["VOICE", "TEXT"] }));
const model = { id: "LOCAL_1", provider: "OPENAI", model: "local-1", channels: ["VOICE"] };

describe("an invalid CATALOG_FILE is refused, naming the entry:", () => {
  test.each([
    ["not JSON", "{", ["JSON"]],
    ["not an object", [], ["the file"]],
    ["an unknown list", { model: [] }, ["model"]],
    ["an id that GraphQL does not allow", { models: [{ ...model, id: "GPT-5" }] }, ["models[0] (GPT-5).id"]],
    ["an id reserved by GraphQL", { models: [{ ...model, id: "true" }] }, ["models[0] (true).id"]],
    ["an unknown field", { models: [model, { ...model, id: "B", price: 1 }] }, ["models[1] (B)", "price"]],
    ["an unknown channel", { models: [{ ...model, channels: ["FAX"] }] }, ["models[0] (LOCAL_1).channels"]],
    ["no channel", { models: [{ ...model, channels: [] }] }, ["models[0] (LOCAL_1).channels"]],
    ["an invalid base URL", { models: [{ ...model, baseUrl: "ftp://x" }] }, ["models[0] (LOCAL_1).baseUrl"]],
    ["a duplicate entry", { models: [model, model] }, ["models[1] (LOCAL_1)"]],
    ["an unknown provider", { models: [{ ...model, provider: "NOBODY" }] }, ["models (LOCAL_1)", "NOBODY"]],
    ["a model without the vendor's name", { models: [{ id: "B", provider: "OPENAI" }] }, ["models (B)"]],
    ["a voice without a vendor", { voices: [{ id: "ada" }] }, ["voices (ada)"]],
    ["no model for a channel", { models: withoutSms }, ["models: at least one must allow SMS"]],
  ])("%s", (_, content, told) => {
    const CATALOG_FILE = catalogFile(content);
    const [headline, ...problems] = refusalOf(CATALOG_FILE).split("\n");
    expect(headline).toBe(`CATALOG_FILE ${CATALOG_FILE} is invalid:`);
    expect(problems).toEqual([expect.stringMatching(/^ {2}- /)]);
    for (const words of told) expect(problems[0]).toContain(words);
  });

  test("two invalid entries are both reported, before the database is changed", async () => {
    const CATALOG_FILE = catalogFile({ models: [{ ...model, id: "-" }], voices: [{ id: "-" }] });
    const nowhere = { ...SETTINGS, DATABASE_URL: "postgres://127.0.0.1:1/nowhere" };
    const { code, stdout, stderr } = await runToEnd("main", { ...nowhere, CATALOG_FILE });
    expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toEqual([
      `CATALOG_FILE ${CATALOG_FILE} is invalid:`,
      expect.stringMatching(/^ {2}- models\[0\] \(-\)\.id: /),
      expect.stringMatching(/^ {2}- voices\[0\] \(-\)\.id: /),
    ]);
  });

  test("a missing file", () => {
    expect(refusalOf("nowhere.json")).toMatch(
      /^CATALOG_FILE nowhere\.json is invalid:\n  - The file does not exist\.$/,
    );
  });
});

const INPUT = "query ($name: String!) { __type(name: $name) { enumValues { name } } }";

test(
  "a valid CATALOG_FILE appends values on both interfaces",
  async () => {
    const CATALOG_FILE = catalogFile({
      providers: [{ id: "OURS", channels: ["VOICE", "TEXT"] }],
      models: [
        {
          id: "OURS_1",
          provider: "OURS",
          model: "ours-1",
          baseUrl: "http://127.0.0.1:9/v1",
          channels: ["VOICE"],
        },
        { id: "GPT_4_O", model: "gpt-4o-of-another-day" },
      ],
      speechProviders: [{ id: "CHOIR" }],
      voices: [{ id: "ada", provider: "CHOIR" }],
    });
    const { api } = await startServer({ ...SETTINGS, DATABASE_URL: await preparedDatabase(), CATALOG_FILE });

    const values = async (name: string): Promise<string[]> =>
      (await api.gql(INPUT, { name })).__type.enumValues.map((value: { name: string }) => value.name);
    const counts = {
      TextProvider: 4,
      ChatProvider: 3,
      SmsProvider: 2,
      VoiceModel: 13,
      ChatModel: 8,
      SmsModel: 8,
    };
    for (const [name, count] of Object.entries(counts))
      expect([name, await values(name)]).toEqual([name, expect.objectContaining({ length: count })]);
    expect((await values("VoiceModel")).at(-1)).toBe("OURS_1");
    expect((await values("Voice")).slice(-2)).toEqual(["michael", "ada"]);
    expect((await values("SpeechProvider")).at(-1)).toBe("CHOIR");

    const { schemas } = (await api.get("/rest/openapi.json", 200)).components;
    expect(JSON.stringify(schemas)).toContain('"OURS_1"');
    expect(JSON.stringify(schemas)).toContain('"ada"');

    const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    const change = { provider: "OURS", model: "OURS_1", voiceProvider: "CHOIR", voice: "ada" };
    expect(await api.patch(`/rest/v1/assistants/${id}/voice`, change, 200)).toMatchObject(change);
    await api.patch(`/rest/v1/assistants/${id}/sms`, { model: "OURS_1" }, 400);
  },
  SERVER_TIMEOUT_MS,
);

test(
  "values removed from the catalog are still returned, with a warning, and can be changed",
  async () => {
    const DATABASE_URL = await preparedDatabase();
    const CATALOG_FILE = catalogFile({ models: [model], voices: [{ id: "ada", provider: "OPENAI" }] });
    const first = await startServer({ ...SETTINGS, DATABASE_URL, CATALOG_FILE });
    const { id } = await first.api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    await first.api.patch(`/rest/v1/assistants/${id}/voice`, { model: "LOCAL_1", voice: "ada" }, 200);
    await first.end("SIGTERM");

    const { api } = await startServer({ ...SETTINGS, DATABASE_URL });
    const { status, body } = await api.request("GET", `/rest/v1/assistants/${id}/voice`);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { model: expect.any(String), voice: expect.any(String) },
    });
    const warnings = `query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel path code } } }`;
    expect((await api.gql(warnings, { id })).assistant.configurationWarnings).toEqual(
      expect.arrayContaining([
        { channel: "VOICE", path: "model", code: "UNKNOWN_IDENTIFIER" },
        { channel: "VOICE", path: "voice", code: "UNKNOWN_IDENTIFIER" },
      ]),
    );
    await api.patch(`/rest/v1/assistants/${id}/voice`, { model: "GPT_4_O", voice: "burt" }, 200);
  },
  SERVER_TIMEOUT_MS,
);
