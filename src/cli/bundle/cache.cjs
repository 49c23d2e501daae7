"use strict";
// Stores the code that V8 compiles when a server or a client runs: the next starts read it from a file.
process.env.NODE_ENV = "production";
const { mkdirSync, mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { cacheFile, load } = require("./load.cjs");

const server = load("main");
server.programs["start/serve"]();
server.programs["start/app"]().generatedDocuments(); // builds the schema and compiles the routes

const folder = mkdtempSync(join(tmpdir(), "parley-cache-"));
mkdirSync(join(folder, "assistants"));
writeFileSync(join(folder, "assistants/a.yaml"), "key: a\nname: A\n");
console.log = () => undefined;
process.argv = [process.argv[0], "cli/files", "validate", folder];
const client = load("cli/files");
client.programs["cli/files"](); // ends after this script

process.on("exit", () => {
  rmSync(folder, { recursive: true });
  for (const { text, script } of [...server.parts, ...client.parts])
    writeFileSync(cacheFile(text), script.createCachedData());
});
