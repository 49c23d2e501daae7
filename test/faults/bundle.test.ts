import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { runToEnd, SERVER_TIMEOUT_MS, SETTINGS } from "../support/server";

const BUNDLE = join(__dirname, "../../src/cli/bundle");

/** Detects languages with the package as it is, and with the data that is bundled. */
const COMPARE = `
  import { build } from "esbuild";
  import { eld } from "eld/extrasmall";
  import { LANGUAGES, ngrams } from ${JSON.stringify(join(BUNDLE, "plugins.mjs"))};
  const contents = 'export { eld } from "eld/extrasmall";';
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: "." }, bundle: true, format: "esm", write: false, plugins: [ngrams],
  });
  const [{ text: code }] = outputFiles;
  const bundled = await import("data:text/javascript;base64," + Buffer.from(code).toString("base64"));
  const texts = JSON.parse(process.argv[1]);
  const results = [eld, bundled.eld].map((detector) => {
    detector.setLanguageSubset([...LANGUAGES]);
    return texts.map((text) => {
      const found = detector.detect(text);
      return { language: found.language, scores: found.getScores(), isReliable: found.isReliable() };
    });
  });
  console.log(JSON.stringify(results));`;

const TEXTS = {
  ar: "متى يفتح المكتب؟",
  de: "Wann wird geöffnet?",
  en: "When do you open?",
  es: "¿Cuándo abren las oficinas?",
  fr: "Quand les bureaux sont-ils ouverts ?",
  he: "מתי פתוח המשרד?",
  it: "Quando apre l'ufficio?",
  ja: "何時から営業していますか？",
  ko: "영업시간을 알려주세요",
  nl: "Wanneer gaat het kantoor open?",
  pl: "O której godzinie otwieracie biuro?",
  pt: "Quando abre o escritório?",
  tr: "Ofis ne zaman açılıyor?",
  zh: "你们什么时候开门？",
};

test("the bundle detects languages as the package does", () => {
  const options = ["--input-type=module", "-e", COMPARE, JSON.stringify(Object.values(TEXTS))];
  const [whole, bundled] = JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8" })) as [
    { language: string }[],
    object[],
  ];
  expect(bundled).toEqual(whole);
  expect(whole.map(({ language }) => language)).toEqual(Object.keys(TEXTS));
});

test(
  "a stack of a bundled program names the source files",
  async () => {
    const env = { ...SETTINGS, DATABASE_URL: "postgres://127.0.0.1:1/nowhere", LOG_LEVEL: "debug" };
    const { stderr } = await runToEnd("main", env);
    expect(stderr).toContain("Cannot connect to the database");
    expect(stderr).toMatch(/ at .*\(src\/platform\/database\/upgrades\/migrate\.ts, \S+\/own\.cjs:\d+:\d+\)/);
  },
  SERVER_TIMEOUT_MS,
);

test.each([
  ["main", ["own.cjs", "packages.cjs"]],
  ["cli/backup", ["own.cjs", "packages.cjs"]],
  ["cli/files", ["clients.cjs"]],
  ["cli/export", ["clients.cjs"]],
])("V8 accepts the compiled code of the files that %s needs", (program, files) => {
  const code = `
    const { parts } = require(${JSON.stringify(join(BUNDLE, "load.cjs"))}).load(${JSON.stringify(program)});
    const found = parts.map(({ name, script }) => [name, script.cachedDataRejected]);
    console.log(JSON.stringify(found));`;
  const found = JSON.parse(execFileSync(process.execPath, ["-e", code], { encoding: "utf8" })) as unknown;
  expect(found).toEqual(files.map((file) => [file, false]));
});

/** Prints what the module of the migrations exports, and what is bundled in its place. */
const COMPARE_MIGRATIONS = `
  import { createRequire } from "node:module";
  import { build } from "esbuild";
  import { migrations } from ${JSON.stringify(join(BUNDLE, "plugins.mjs"))};
  const path = ${JSON.stringify(join(BUNDLE, "../../../dist/src/platform/database/migrations/index.js"))};
  const { outputFiles } = await build({
    stdin: { contents: "module.exports = require(" + JSON.stringify(path) + ")", resolveDir: "." },
    bundle: true, format: "cjs", platform: "node", packages: "external", write: false, plugins: [migrations],
  });
  const load = createRequire(path);
  const module = { exports: {} };
  new Function("module", "require", outputFiles[0].text)(module, load);
  console.log(JSON.stringify([load(path), module.exports]));`;

test("the bundled migrations export all that their module exports", () => {
  const options = ["--input-type=module", "-e", COMPARE_MIGRATIONS];
  const [whole, bundled] = JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8" })) as [
    { readonly onlineSteps: readonly unknown[] },
    unknown,
  ];
  expect(bundled).toEqual(whole);
  expect(whole.onlineSteps.length).toBeGreaterThan(0);
});
