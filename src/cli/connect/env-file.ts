import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** Sets values in a file of settings and keeps its other lines. */
export function writeEnv(
  file: string,
  values: Readonly<Record<string, string>>,
  unset: readonly string[],
): void {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const names = new Set([...Object.keys(values), ...unset]);
  const kept = before
    .split("\n")
    .filter((line) => !names.has(/^\s*(?:export\s+)?([A-Z0-9_]+)\s*=/.exec(line)?.[1] ?? ""));
  const added = Object.entries(values).map(([name, value]) => `${name}=${quoteValue(value)}`);
  const text = [...kept.join("\n").trim().split("\n"), ...added].filter((line, at) => at > 0 || line !== "");
  const draft = `${file}.new`;
  writeFileSync(draft, `${text.join("\n")}\n`, { mode: 0o600 }); // it holds keys
  renameSync(draft, file);
}

/** @throws Error for a value that no quotes can hold */
function quoteValue(value: string): string {
  if (/^[\w.:/@+-]*$/.test(value)) return value;
  const quote = ["'", '"', "`"].find((one) => !value.includes(one));
  if (quote === undefined || /[\r\n]/.test(value)) throw new Error("The value cannot be written to .env.");
  return `${quote}${value}${quote}`;
}
