import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root";

/** The version of this program. */
export function ownVersion(): string {
  return (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }).version;
}
