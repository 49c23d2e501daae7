// jest loads the test files, each with its own module registry. Node loads everything else (the built service and the
// packages), once for all test files of a process.
const { createRequire } = require("node:module");
const { join, relative, sep } = require("node:path");
const { default: Runtime } = require("jest-runtime");

const root = join(__dirname, "../../..");
/** Browser programs, which no server loads, are not built for `require`. */
const PAGES = join("src", "web") + sep;

module.exports = class extends Runtime {
  requireModuleOrMock(from, name) {
    if (name === "@jest/globals") return super.requireModuleOrMock(from, name);
    if (!name.startsWith(".")) return createRequire(from)(name);
    const path = relative(root, join(from, "..", name));
    const isJests = path.startsWith(`test${sep}`) || path.startsWith(PAGES);
    return isJests ? super.requireModuleOrMock(from, name) : require(join(root, "dist", path));
  }

  /** Of jest's own modules only the runner has state of a test file; Node loads the others once. */
  requireInternalModule(from, name) {
    if (name === undefined || name.startsWith(".") || name === "jest-circus")
      return super.requireInternalModule(from, name);
    return createRequire(from)(name);
  }

  /** Compiles in this realm, so that tests and the service share one Error class. */
  createScriptFromCode(code, filename) {
    const script = super.createScriptFromCode(code, filename);
    return { runInContext: (_, options) => script.runInThisContext(options) };
  }
};
