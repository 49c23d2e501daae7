import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import Ajv2020 from "ajv/dist/2020";
import { catalogJsonSchema, idsFor, loadCatalog } from "../../src/platform/catalog/load-catalog";

const folder = mkdtempSync(join(tmpdir(), "parley-catalog-"));
afterAll(() => rmSync(folder, { recursive: true }));

function overlaid(content: object) {
  const file = join(folder, "catalog.json");
  writeFileSync(file, JSON.stringify(content));
  return loadCatalog(file);
}

describe("the catalog", () => {
  const { providers, models, speechProviders, voices } = loadCatalog();

  test("has the documented number of identifiers for each channel", () => {
    expect(idsFor(providers, "VOICE")).toEqual(["OPENAI", "GROQ", "ANTHROPIC"]);
    expect(idsFor(models, "VOICE")).toHaveLength(12);
    for (const channel of ["SMS", "TEXT"] as const) {
      expect(idsFor(providers, channel)).toEqual(idsFor(providers, "VOICE").slice(0, 2));
      expect(idsFor(models, channel)).toEqual(idsFor(models, "VOICE").slice(0, 8));
    }
    expect(speechProviders).toHaveLength(3);
    expect(voices).toHaveLength(31);
    for (const { id } of voices) expect(id).toMatch(/^[a-z]+$/);
  });

  test("names a source and a date for every model that succeeds another, and no model whose announced withdrawal is past", () => {
    const original: Readonly<Record<string, string>> = {
      GPT_4_O: "gpt-4o",
      GPT_3_5_TURBO: "gpt-3.5-turbo",
      GPT_4_TURBO: "gpt-4-turbo",
      GPT_4_O_MINI: "gpt-4o-mini",
      LLAMA_3_70B: "llama3-70b-8192",
      LLAMA_3_8B: "llama3-8b-8192",
      LLAMA_3_1_405B_REASONING: "llama-3.1-405b-reasoning",
      MIXTRAL: "mixtral-8x7b-32768",
      CLAUDE_3_OPUS: "claude-3-opus-20240229",
      CLAUDE_3_SONNET: "claude-3-sonnet-20240229",
      CLAUDE_3_HAIKU: "claude-3-haiku-20240307",
      CLAUDE_3_5_SONNET: "claude-3-5-sonnet-20240620",
    };
    for (const { id, model, succeeds, successor } of models) {
      expect({ id, original: succeeds?.model ?? model }).toEqual({ id, original: original[id] });
      for (const one of [succeeds, successor].filter((it) => it !== undefined)) {
        expect(one.source).toMatch(
          /^https:\/\/(developers\.openai|console\.groq|platform\.claude)\.com\/docs|api\/docs/,
        );
        expect(one.checked).toMatch(/^\d{4}-\d\d-\d\d$/);
      }
      if (successor) expect(successor.withdrawn! > successor.checked).toBe(true);
    }
  });

  test("has no duplicate identifiers, and a known provider for each model", () => {
    for (const entries of [providers, models, speechProviders, voices])
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    for (const { provider } of models) expect(providers.map(({ id }) => id)).toContain(provider);
    for (const { provider } of voices) expect(speechProviders.map(({ id }) => id)).toContain(provider);
  });
});

const PAGE = readFileSync(join(__dirname, "../../docs/models.md"), "utf8");
/** The JSON after a heading of docs/models.md. */
const example = (heading: string) =>
  JSON.parse(PAGE.split(`### ${heading}\n`)[1]!.split("```json\n")[1]!.split("```")[0]!) as object;

describe("docs/models.md", () => {
  test("has the JSON Schema of the file; otherwise run `npm run docs`", () => {
    const schema = PAGE.split("<!-- schema -->")[1]!.split("```json\n")[1]!.split("```")[0]!;
    expect(JSON.parse(schema)).toEqual(JSON.parse(JSON.stringify(catalogJsonSchema())));
  });

  test("has the model of every identifier, and its source if it succeeds another", () => {
    for (const { id, model, succeeds } of loadCatalog().models)
      for (const text of [id, `\`${model}\``, ...(succeeds ? [succeeds.model, succeeds.source] : [])])
        expect(PAGE).toContain(text);
  });

  test.each(["Ollama", "A newer model under an old identifier", "A voice by the vendor's own id"])(
    "has a valid example: %s",
    (heading) => {
      expect(new Ajv2020({ validateFormats: false }).validate(catalogJsonSchema(), example(heading))).toBe(
        true,
      );
      overlaid(example(heading));
    },
  );

  test("shows examples that do what they say", () => {
    expect(overlaid(example("Ollama")).models.find(({ id }) => id === "GPT_4_O")).toMatchObject({
      model: "llama3.2",
      baseUrl: "http://127.0.0.1:11434/v1",
    });
    const newer = overlaid(example("A newer model under an old identifier"));
    expect(newer.models.find(({ id }) => id === "GPT_4_O")).toEqual(
      expect.not.objectContaining({ successor: expect.anything() }),
    );
    const { voices } = overlaid(example("A voice by the vendor's own id"));
    expect(voices.slice(-2).map(({ id, voiceId }) => [id, voiceId])).toEqual([
      ["_21m00Tcm4TlvDq8ikWAM", "21m00Tcm4TlvDq8ikWAM"],
      ["rachel", "21m00Tcm4TlvDq8ikWAM"],
    ]);
  });
});

describe("a catalog file", () => {
  test("that is empty changes nothing", () => expect(overlaid({})).toEqual(loadCatalog()));

  test("can serve a known identifier by another model, and keeps the rest of the entry and its position", () => {
    const baseUrl = "http://localhost:11434/v1";
    const { models } = overlaid({ models: [{ id: "MIXTRAL", model: "mixtral-local", baseUrl }] });
    const before = loadCatalog().models;
    const place = before.findIndex(({ id }) => id === "MIXTRAL");
    const { reasoning, succeeds, ...rest } = before[place]!;
    expect([reasoning, succeeds?.model]).toEqual(["low", "mixtral-8x7b-32768"]);
    expect(models).toEqual(
      before.with(place, { ...rest, model: "mixtral-local", baseUrl, namedBy: "CATALOG_FILE" }),
    );
  });

  test("appends new entries, for all channels unless it names some", () => {
    const { providers, models, voices } = overlaid({
      providers: [{ id: "HOUSE" }],
      models: [
        { id: "HOUSE_1", provider: "HOUSE", model: "house-1" },
        { id: "HOUSE_2", provider: "OPENAI", model: "house-2", channels: ["SMS"] },
      ],
      voices: [{ id: "ada", provider: "PLAYHT" }],
    });
    expect(idsFor(providers, "TEXT")).toEqual(["OPENAI", "GROQ", "HOUSE"]);
    expect(idsFor(models, "TEXT").slice(8)).toEqual(["HOUSE_1"]);
    expect(idsFor(models, "SMS").slice(8)).toEqual(["HOUSE_1", "HOUSE_2"]);
    expect(idsFor(models, "VOICE").slice(12)).toEqual(["HOUSE_1"]);
    expect(voices.at(-1)).toEqual({ id: "ada", provider: "PLAYHT" });
  });
});
