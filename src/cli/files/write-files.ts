import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file unless it has this content. An interrupted write leaves the former content. @returns whether it was written */
export function writeChanged(path: string, content: string | Uint8Array): boolean {
  const bytes = Buffer.from(content as Uint8Array);
  if (contentOf(path)?.equals(bytes)) return false;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.new`;
  writeFileSync(draft, bytes);
  renameSync(draft, path);
  return true;
}

/** SHA-256 of a file, in hexadecimal digits; undefined if there is none. */
export function digestOf(path: string): string | undefined {
  const content = contentOf(path);
  return content && createHash("sha256").update(content).digest("hex");
}

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
