import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { idsFor, loadCatalog } from "../../src/platform/catalog/load-catalog";

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

  test("has no duplicate identifiers, and a known provider for each model", () => {
    for (const entries of [providers, models, speechProviders, voices])
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    for (const { provider } of models) expect(providers.map(({ id }) => id)).toContain(provider);
    for (const { provider } of voices) expect(speechProviders.map(({ id }) => id)).toContain(provider);
  });
});

describe("a catalog file", () => {
  test("that is empty changes nothing", () => expect(overlaid({})).toEqual(loadCatalog()));

  test("can serve a known identifier by another model, and keeps the rest of the entry and its position", () => {
    const baseUrl = "http://localhost:11434/v1";
    const { models } = overlaid({ models: [{ id: "MIXTRAL", model: "mixtral-local", baseUrl }] });
    const before = loadCatalog().models;
    const place = before.findIndex(({ id }) => id === "MIXTRAL");
    expect(models).toEqual(before.with(place, { ...before[place]!, model: "mixtral-local", baseUrl }));
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
