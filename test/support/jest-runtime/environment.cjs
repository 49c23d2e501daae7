// The realm of the process itself, which src/ and the packages live in too: see runtime.cjs.
const { ModernFakeTimers } = require("@jest/fake-timers");
const { default: NodeEnvironment } = require("jest-environment-node");

module.exports = class extends NodeEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global = globalThis;
    this.fakeTimersModern = new ModernFakeTimers({ config: config.projectConfig, global: globalThis });
  }
};
