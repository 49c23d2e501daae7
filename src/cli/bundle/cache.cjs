"use strict";
// Stores the code of the packages that V8 compiles when a server starts: the next starts read it from a file.
process.env.NODE_ENV = "production";
const { writeFileSync } = require("node:fs");
const { cacheFile, load } = require("./load.cjs");

const { programs, script } = load();
programs["start/serve"]();
programs["start/app"]().generatedDocuments(); // builds the schema and compiles the routes
writeFileSync(cacheFile(), script.createCachedData());
