import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { ENDED_REASONS } from "../chats/chats/ended-reasons";
import { generatedDocuments } from "../start/app";
import { groupDiagram } from "./group-diagram";
import { parseArguments } from "./arguments";
import { eventSections } from "./event-documents";
import { markdownTable } from "./markdown-table";
import COMMANDS from "./commands.json";
import { catalogSchema, envExample, settingsTable } from "./settings-documents";

parseArguments(COMMANDS["cli/docs"].usage, {});
for (const [path, text] of Object.entries(generatedDocuments())) writeFileSync(path, text);
writeFileSync(".env.example", envExample());
replacePart("docs/settings.md", "settings", settingsTable());
replacePart("docs/events.md", "events", eventSections());
replacePart("docs/calls-and-sms.md", "reasons", reasonsTable());
replacePart("docs/models.md", "schema", catalogSchema());
replacePart("docs/architecture.md", "groups", groupDiagram());
// It uses packages that only developers have.
execFileSync(process.execPath, ["src/web/typed-documents.mjs"], { stdio: "inherit" });

/** The table of the reasons for the end of a conversation. */
function reasonsTable(): string {
  const rows = Object.entries(ENDED_REASONS).map(([name, text]) => [`\`${name}\``, text]);
  return markdownTable(["`endedReason`", "Meaning"], rows);
}

/** Replaces the generated part of a document between two comments with its name. */
function replacePart(path: string, name: string, text: string): void {
  const document = readFileSync(path, "utf8");
  const begin = `<!-- ${name} -->\n`;
  const from = document.indexOf(begin) + begin.length;
  const until = document.indexOf(`<!-- /${name} -->`);
  if (from < begin.length || until < from) throw new Error(`${path} has no part ${name}.`);
  writeFileSync(path, `${document.slice(0, from)}\n${text}\n\n${document.slice(until)}`);
}
