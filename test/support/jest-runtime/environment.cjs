// Runs tests in the realm of the process, like src/ and the packages; see runtime.cjs.
const { ModernFakeTimers } = require("@jest/fake-timers");
const { default: NodeEnvironment } = require("jest-environment-node");

module.exports = class extends NodeEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global = globalThis;
    this.fakeTimersModern = new ModernFakeTimers({ config: config.projectConfig, global: globalThis });
  }
};
