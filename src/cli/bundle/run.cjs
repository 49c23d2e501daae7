"use strict";
// Runs a program of the bundle with its options: `node src/cli/bundle/run.cjs cli/backup FOLDER`.
const { helpIfAsked } = require("../help.cjs");
const { load } = require("./load.cjs");

const [node, , program, ...options] = process.argv;
helpIfAsked(program, options);
process.argv = [node, program, ...options];
load(program).programs[program]();
