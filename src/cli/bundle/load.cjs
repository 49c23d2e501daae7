"use strict";
const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { basename, dirname, join } = require("node:path");
const { cachedDataVersionTag } = require("node:v8");
const { Script } = require("node:vm");

const FOLDER = join(__dirname, "../../../dist/bundle");
const [OWN, PACKAGES, CLIENTS] = ["own.cjs", "packages.cjs", "clients.cjs"].map((name) => join(FOLDER, name));
/** Programs that talk to a server and need no part of it: a small bundle has them and their packages. */
const OF_CLIENTS = ["cli/files", "cli/export", "cli/import", "platform/installed"];

/**
 * The file with V8's compiled code of a text, for this version of Node, this processor and these flags. V8 itself compares
 * only the lengths of the texts.
 */
const cacheFile = (text) => {
  const digest = createHash("sha1").update(text).digest("hex");
  return join(FOLDER, "cache", `${cachedDataVersionTag()}-${digest}`);
};

function readCache(text) {
  try {
    return readFileSync(cacheFile(text));
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

const scriptOf = (filename) => {
  const text = readFileSync(filename, "latin1"); // the build leaves only ASCII
  const script = new Script(text, { filename, cachedData: readCache(text) });
  return { name: basename(filename), text, script };
};

/**
 * Loads the bundle that has a program. @returns functions that evaluate a program by its name, and the texts of
 * its files with their scripts
 */
const load = (program) => (OF_CLIENTS.includes(program) ? loadClients() : loadServer());

function loadClients() {
  const clients = scriptOf(CLIENTS);
  return { parts: [clients], programs: evaluate(clients.script, CLIENTS, createRequire(CLIENTS)) };
}

function loadServer() {
  const node = createRequire(PACKAGES);
  const packages = scriptOf(PACKAGES);
  const modules = evaluate(packages.script, PACKAGES, node);
  const find = (name) => (Object.hasOwn(modules, name) ? modules[name]() : node(name));
  find.resolve = node.resolve;
  const own = scriptOf(OWN);
  return { parts: [own, packages], programs: evaluate(own.script, OWN, find) };
}

module.exports = { OF_CLIENTS, cacheFile, load };
