"use strict";
// Stores the code that V8 compiles when a server or a client starts: the next starts read it from a file.
process.env.NODE_ENV = "production";
const { writeFileSync } = require("node:fs");
const { cacheFile, load } = require("./load.cjs");

const { programs, parts } = load("main");
programs["start/serve"]();
programs["start/app"]().generatedDocuments(); // builds the schema and compiles the routes
const clients = load("platform/installed").parts;
for (const { text, script } of [...parts, ...clients])
  writeFileSync(cacheFile(text), script.createCachedData());
