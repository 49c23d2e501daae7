// Transpiles tests without checking types, like src/cli/transpile.mjs.
const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const esbuild = require("esbuild");

/** Digest of all that the result depends on besides the test. */
const own = createHash("sha256").update(esbuild.version).update(readFileSync(__filename)).digest("hex");

module.exports = {
  getCacheKey: (text, path) => createHash("sha256").update(`${own}\0${path}\0${text}`).digest("hex"),

  process(text, path) {
    const options = { loader: "ts", format: "cjs", platform: "node", target: "es2022", sourcefile: path };
    const { code, map } = esbuild.transformSync(text, { ...options, sourcemap: true, sourcesContent: false });
    return { code, map };
  },
};
