// Preloaded into a server of the benchmark `versions`: its statements have no parts that make versions, and functions are
// written as any other value.
const { resolve } = require("node:path");

const path = resolve("dist/src/assistants/history/kept-content.js");
const original = require(path);

require.cache[path].exports = {
  ...original,
  // The parameters stay, so that the values fit the statement. PostgreSQL does not run a part that nothing reads.
  versionParts: ({ db }, { author, values }) => {
    const functions = values.filter(([name]) => name.endsWith(".functions")).map(([, sql]) => `, ${sql}`);
    return { author: db.raw(`select ${author.toQuery()}::jsonb${functions.join("")}`) };
  },
  HAS_VERSION: (_id, isUnversioned) => `(${isUnversioned.toQuery()}::boolean or true)`,
};

const { encoded } = require(resolve("dist/src/platform/database/values/encoded.js"));
const { Configurations } = require(resolve("dist/src/assistants/configurations/configurations.js"));
const { update } = Configurations.prototype;
Configurations.prototype.update = async function (kind, assistantId, input) {
  if (!input.functions) return update.call(this, kind, assistantId, input);
  const changes = encoded({ ...input, updatedAt: new Date() });
  const row = await this.change(kind, assistantId, { changes, hasLong: true, kept: changes.functions });
  return this.shown(kind, assistantId, row);
};
