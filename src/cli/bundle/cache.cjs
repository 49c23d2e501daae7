"use strict";
// Stores the code that V8 compiles when a server starts: the next starts read it from a file.
process.env.NODE_ENV = "production";
const { writeFileSync } = require("node:fs");
const { cacheFile, load } = require("./load.cjs");

const { programs, parts } = load();
programs["start/serve"]();
programs["start/app"]().generatedDocuments(); // builds the schema and compiles the routes
for (const { text, script } of parts) writeFileSync(cacheFile(text), script.createCachedData());
