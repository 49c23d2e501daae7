// Runs a bundled program where only the standards of the web exist: node worker.mjs FILE OPTIONS
import { readFileSync } from "node:fs";
import { EdgeVM } from "@edge-runtime/vm";

const [, , file, options] = process.argv;
const worker = new EdgeVM();
if (worker.evaluate("typeof process !== 'undefined' || typeof require !== 'undefined'"))
  throw new Error("This runtime has parts of Node.js.");
worker.evaluate(readFileSync(file, "utf8"));
console.log(JSON.stringify(await worker.evaluate(`program.exercise(${options})`)));
