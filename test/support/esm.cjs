// jest has no require of ES modules, which plain Node 20.19 has: packages that ship nothing else become CommonJS here.
const { transformSync } = require("esbuild");

module.exports = {
  process(source, filename) {
    const { code, map } = transformSync(source, {
      format: "cjs",
      target: "node20",
      sourcefile: filename,
      sourcemap: "external",
      define: { "import.meta.url": "__filename_url" },
      banner: 'const __filename_url = require("node:url").pathToFileURL(__filename).href;',
    });
    return { code, map };
  },
};
