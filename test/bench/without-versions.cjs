// Preloaded into a server of the benchmark `versions`: its statements have no parts that make versions, and functions are
// written as any other value.
const { resolve } = require("node:path");

/** Replaces exports of a compiled module, which other modules have not loaded yet. */
function replaceIn(module, replacementsOf) {
  const path = resolve(`dist/src/assistants/history/${module}.js`);
  const original = require(path);
  require.cache[path].exports = { ...original, ...replacementsOf(original) };
}

replaceIn("kept-content", () => ({
  // The parameters stay, so that the values fit the statement. PostgreSQL does not run a part that nothing reads.
  versionParts: ({ db }, { author, values }) => {
    const functions = values.filter(([name]) => name.endsWith(".functions")).map(([, sql]) => `, ${sql}`);
    return { author: db.raw(`select ${author.toQuery()}::jsonb${functions.join("")}`) };
  },
  HAS_VERSION: (_id, isUnversioned) => `(${isUnversioned.toQuery()}::boolean or true)`,
}));

replaceIn("function-secrets", () => ({ withoutSecrets: (_kind, text) => text }));

replaceIn("secret-slots", ({ SecretSlots }) => {
  SecretSlots.prototype.changeOf = async (_assistantId, _kind, functions) => ({
    functions,
    lost: [],
    secrets: ["", [], "{}"],
  });
  const secretParts = ({ db }, { values }) => {
    const [before, used, removed] = values.map((value) => value.toQuery());
    const secrets = db.raw(`select ${before}::text, ${used}::text[], ${removed}::jsonb`);
    return { condition: "true", parts: { secrets } };
  };
  return { secretParts };
});
