import { SETTINGS } from "../platform/settings/config";

/** The README's table of settings. */
export function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, [, without, text]]) => `| \`${name}\` | ${without} | ${text} |`,
  );
  return ["| Setting | Without it | What it does |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The text of .env.example: every setting, commented out, with its default. */
export function envExample(): string {
  const entries = Object.entries(SETTINGS).map(([name, [, without, text]]) => {
    const value = /^`([^`]+)`( \(.*\))?$/.exec(without)?.[1];
    const comment = value === undefined ? `${text} Without it: ${without.replace("unset: ", "")}.` : text;
    return `# ${comment.replaceAll("`", "")}\n# ${name}=${value ?? ""}\n`;
  });
  return ["# Copy this file to .env and take the # from what you set.\n", ...entries].join("\n");
}
