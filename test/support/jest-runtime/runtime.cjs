// Test files go through jest, one registry of modules for each. All else is loaded as when it runs: the built service and
// the packages, by Node itself, once for all test files of a process.
const { createRequire } = require("node:module");
const { join, relative, sep } = require("node:path");
const { default: Runtime } = require("jest-runtime");

const root = join(__dirname, "../../..");
/** What no server loads is not built to be required. */
const PAGES = join("src", "web") + sep;

module.exports = class extends Runtime {
  requireModuleOrMock(from, name) {
    if (name === "@jest/globals") return super.requireModuleOrMock(from, name);
    if (!name.startsWith(".")) return createRequire(from)(name);
    const path = relative(root, join(from, "..", name));
    const isJests = path.startsWith(`test${sep}`) || path.startsWith(PAGES);
    return isJests ? super.requireModuleOrMock(from, name) : require(join(root, "dist", path));
  }

  /** In this realm, so that an Error of a test is an Error of the service. */
  createScriptFromCode(code, filename) {
    const script = super.createScriptFromCode(code, filename);
    return { runInContext: (_, options) => script.runInThisContext(options) };
  }
};
