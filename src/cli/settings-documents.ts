import { catalogJsonSchema } from "../platform/catalog/load-catalog";
import { SETTINGS } from "../platform/settings/config";

/** The table of settings in docs/settings.md. */
export function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, [, without, text]]) => `| \`${name}\` | ${without} | ${text} |`,
  );
  return ["| Setting | Default | Description |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The text of .env.example: every setting, commented out, with its default. */
export function envExample(): string {
  const entries = Object.entries(SETTINGS).map(([name, [, without, text]]) => {
    const value = /^`([^`]+)`( \(.*\))?$/.exec(without)?.[1];
    const comment = value === undefined ? `${text} Default: ${without.replace("unset: ", "")}.` : text;
    return `# ${comment.replaceAll("`", "")}\n# ${name}=${value ?? ""}\n`;
  });
  return ["# Copy this file to .env and uncomment the settings that you change.\n", ...entries].join("\n");
}

/** The JSON Schema of CATALOG_FILE, as a code block. */
export const catalogSchema = (): string =>
  `\`\`\`json\n${JSON.stringify(catalogJsonSchema(), null, 2)}\n\`\`\``;
