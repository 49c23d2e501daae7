import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { generatedDocuments } from "../start/app";
import { groupDiagram } from "./group-diagram";
import { parseArguments } from "./arguments";
import COMMANDS from "./commands.json";
import { catalogSchema, envExample, settingsTable } from "./settings-documents";

parseArguments(COMMANDS["cli/docs"].usage, {});
for (const [path, text] of Object.entries(generatedDocuments())) writeFileSync(path, text);
writeFileSync(".env.example", envExample());
replacePart("docs/settings.md", "settings", settingsTable());
replacePart("docs/models.md", "schema", catalogSchema());
replacePart("docs/architecture.md", "groups", groupDiagram());
// It uses packages that only developers have.
execFileSync(process.execPath, ["src/web/typed-documents.mjs"], { stdio: "inherit" });

/** Replaces the generated part of a document between two comments with its name. */
function replacePart(path: string, name: string, text: string): void {
  const document = readFileSync(path, "utf8");
  const begin = `<!-- ${name} -->\n`;
  const from = document.indexOf(begin) + begin.length;
  const until = document.indexOf(`<!-- /${name} -->`);
  if (from < begin.length || until < from) throw new Error(`${path} has no part ${name}.`);
  writeFileSync(path, `${document.slice(0, from)}\n${text}\n\n${document.slice(until)}`);
}
