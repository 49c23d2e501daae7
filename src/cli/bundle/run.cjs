"use strict";
// Runs a program of the bundle with its options: `node src/cli/bundle/run.cjs cli/backup FOLDER`.
const { load } = require("./load.cjs");

const [node, , program, ...options] = process.argv;
process.argv = [node, program, ...options];
load().programs[program]();
