import { readFileSync, writeFileSync } from "node:fs";
import { generatedDocuments } from "../start/app";
import { envExample, settingsTable } from "./settings-documents";

/** Between these lines of the README stands what is generated. */
const SETTINGS = /(<!-- settings -->\n)[^]*?(<!-- \/settings -->)/;

for (const [path, text] of Object.entries(generatedDocuments())) writeFileSync(path, text);
writeFileSync(".env.example", envExample());
const readme = readFileSync("README.md", "utf8");
writeFileSync(
  "README.md",
  readme.replace(SETTINGS, (_, before: string, after: string) => `${before}\n${settingsTable()}\n\n${after}`),
);
