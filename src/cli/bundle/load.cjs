"use strict";
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname, join } = require("node:path");
const { cachedDataVersionTag } = require("node:v8");
const { Script } = require("node:vm");

const FOLDER = join(__dirname, "../../../dist/bundle");
const [OWN, PACKAGES] = ["own.cjs", "packages.cjs"].map((name) => join(FOLDER, name));

/** The file with V8's compiled code for this version of Node, this processor and these flags. */
const cacheFile = () => join(FOLDER, "cache", String(cachedDataVersionTag()));

function readCache() {
  try {
    return readFileSync(cacheFile());
  } catch {
    return undefined; // other flags than those of the build: the code is compiled
  }
}

/** @param find `require` for modules outside the bundle */
function evaluate(script, filename, find) {
  const module = { exports: {} };
  script.runInThisContext()(module.exports, find, module, filename, dirname(filename));
  return module.exports;
}

/** Loads the bundle. @returns functions that evaluate a program by its name, and the script of the packages */
function load() {
  const node = createRequire(PACKAGES);
  const text = readFileSync(PACKAGES, "latin1"); // the build leaves only ASCII
  const script = new Script(text, { filename: PACKAGES, cachedData: readCache() });
  const packages = evaluate(script, PACKAGES, node);
  const find = (name) => (Object.hasOwn(packages, name) ? packages[name]() : node(name));
  find.resolve = node.resolve;
  const own = new Script(readFileSync(OWN, "utf8"), { filename: OWN });
  return { script, programs: evaluate(own, OWN, find) };
}

module.exports = { cacheFile, load };
