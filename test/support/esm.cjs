// jest has no require of ES modules, which plain Node 20.19 has: packages that ship nothing else become CommonJS here.
const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { transformSync } = require("esbuild");

const version = readFileSync(__filename, "utf8");

module.exports = {
  getCacheKey: (source, filename) =>
    createHash("sha256").update(version).update(filename).update(source).digest("hex"),
  process(source, filename) {
    const { code, map } = transformSync(source, {
      format: "cjs",
      target: "node20",
      // Of an .mjs file esbuild takes `default` to be all of module.exports, as Node does; what it imports was converted too.
      sourcefile: filename.replace(/\.mjs$/, ".js"),
      sourcemap: "external",
      define: { "import.meta.url": "__filename_url" },
      banner: 'const __filename_url = require("node:url").pathToFileURL(__filename).href;',
    });
    return { code, map };
  },
};
