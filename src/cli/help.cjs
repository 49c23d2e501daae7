"use strict";
// What `--help` prints. It is known without a build, settings or packages.
const COMMANDS = require("./commands.json");

/** Prints the usage and the effect of a program, and ends the process, if `--help` is among its arguments. */
exports.helpIfAsked = (program, options) => {
  if (![program, ...options].some((one) => one === "--help" || one === "-h")) return;
  const { usage, effect } = COMMANDS[program] ?? COMMANDS.build;
  console.log(`Usage: ${usage}\n\n${effect}`);
  process.exit(0);
};
