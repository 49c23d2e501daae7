import { readFileSync, writeFileSync } from "node:fs";
import { generatedDocuments } from "../start/app";
import { groupDiagram } from "./group-diagram";
import { envExample, settingsTable } from "./settings-documents";

for (const [path, text] of Object.entries(generatedDocuments())) writeFileSync(path, text);
writeFileSync(".env.example", envExample());
replacePart("README.md", "settings", settingsTable());
replacePart("docs/architecture.md", "groups", groupDiagram());

/** Replaces the generated part of a document, which stands between two comments with its name. */
function replacePart(path: string, name: string, text: string): void {
  const part = new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`);
  const document = readFileSync(path, "utf8");
  writeFileSync(
    path,
    document.replace(part, (_, before: string, after: string) => `${before}\n${text}\n\n${after}`),
  );
}
