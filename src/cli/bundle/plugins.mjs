// Plugins of esbuild for files that cannot be bundled as they are.
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const load = createRequire(import.meta.url);
export const { LANGUAGES } = load("../../../dist/src/platform/language/detect-language.js");

/** The migrations are the files of their folder. In the bundle each is evaluated when it runs. */
export const migrations = {
  name: "migrations",
  setup({ onLoad }) {
    onLoad({ filter: /dist[\\/]src[\\/]platform[\\/]database[\\/]migrations[\\/]index\.js$/ }, ({ path }) => {
      const names = readdirSync(dirname(path)).flatMap((file) => /^(\d{3}-[^.]+)\.js$/.exec(file)?.[1] ?? []);
      const getters = names.sort().map((name) => `get "${name}"() { return require("./${name}.js"); },`);
      const steps = "Object.values(exports.migrations).flatMap(({ online = [] }) => online)";
      return {
        contents: `exports.migrations = {\n${getters.join("\n")}\n};
          Object.defineProperty(exports, "onlineSteps", { enumerable: true, get: () => ${steps} });`,
      };
    });
  },
};

/**
 * Apollo makes a digest of each document with JavaScript where modules have no `require` of their own, as in a bundle. This
 * uses Node.js, without an object for each digest.
 */
export const digests = {
  name: "digests",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]utils\.createhash[\\/]dist[\\/]index\.js$/ }, () => ({
      contents: `const { hash } = require("node:crypto");
        exports.createHash = (kind) => ({
          update: (text) => ({ digest: (encoding) => hash(kind, text, encoding) }),
        });`,
    }));
  },
};

/** Data of the language detector: only of our languages, and as JSON, which is read faster than an object literal. */
export const ngrams = {
  name: "ngrams",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^eld\/extrasmall$/ }, ({ path }) => ({
      path: fileURLToPath(import.meta.resolve(path)),
    }));
    onLoad({ filter: /[\\/]eld[\\/]src[\\/]ngrams[\\/]extrasmall\.js$/ }, async ({ path }) => {
      const { ngramsData: all } = await import(pathToFileURL(path));
      const isOurs = ([id]) => LANGUAGES.includes(all.languages[id]);
      const scores = Object.entries(all.ngrams).map(([text, byLanguage]) => [
        text,
        Object.fromEntries(Object.entries(byLanguage).filter(isOurs)),
      ]);
      const used = scores.filter(([, byLanguage]) => Object.keys(byLanguage).length > 0);
      const json = JSON.stringify({ ...all, ngrams: Object.fromEntries(used) });
      return { contents: `export const ngramsData = JSON.parse(${JSON.stringify(json)});` };
    });
  },
};
