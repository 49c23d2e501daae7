import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/** Whether this user can write a file of settings, which need not exist. */
export const isWritable = (file: string): boolean => permits(dirname(file)) || permits(file);

function permits(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Sets values in a file of settings and keeps its other lines and its owner. A new file gets the owner of the folder.
 */
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
  replace(file, `${text.join("\n")}\n`);
}

/** Others cannot read the file, because it holds keys. A group that alone could read it still can. */
function replace(file: string, text: string): void {
  const former = existsSync(file) ? statSync(file) : undefined;
  const { uid, gid } = former ?? statSync(dirname(file));
  const mode = former && (former.mode & 0o007) === 0 ? former.mode & 0o660 : 0o600;
  const isFolderWritable = permits(dirname(file));
  const written = isFolderWritable ? `${file}.new` : file;
  writeFileSync(written, text, { mode });
  if (process.getuid?.() === 0) chownSync(written, uid, gid); // only root may
  chmodSync(written, mode); // whatever the umask
  if (isFolderWritable) renameSync(written, file);
}

/** @throws Error for a value that no quotes can hold */
function quoteValue(value: string): string {
  if (/^[\w.:/@+-]*$/.test(value)) return value;
  const quote = ["'", '"', "`"].find((one) => !value.includes(one));
  if (quote === undefined || /[\r\n]/.test(value)) throw new Error("The value cannot be written to .env.");
  return `${quote}${value}${quote}`;
}
