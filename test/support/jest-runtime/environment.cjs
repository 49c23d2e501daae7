// Runs tests in the realm of the process, like src/ and the packages; see runtime.cjs.
const { ModernFakeTimers } = require("@jest/fake-timers");
const { ModuleMocker } = require("jest-mock");

module.exports = class {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.global = null;
  }

  /** Not a context of its own: runtime.cjs compiles in this realm. */
  getVmContext() {
    return this.global;
  }

  exportConditions() {
    return ["node", "node-addons"];
  }
};
