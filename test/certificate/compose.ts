import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../../rest-compat/routes/index";
import { buildDigests, type Certificate } from "../../src/http/pages/certificate";
import { currentDate } from "../../src/platform/clock";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import type { DeliveryResult } from "./deliveries";
import type { OperationResult } from "./operations";
import type { RowResult } from "./rows";

const ROOT = join(__dirname, "../..");
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

interface Results {
  readonly rows: readonly RowResult[];
  readonly operations: readonly OperationResult[];
  readonly deliveries: DeliveryResult;
}

/** The certificate of this revision. */
export function certificateOf(results: Results): Certificate {
  const { rows, operations, deliveries } = results;
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const all = [...rows, ...operations, deliveries];
  return {
    version,
    date: currentDate().toISOString(),
    revision: git("rev-parse", "HEAD"),
    changed: git("status", "--porcelain", "--untracked-files=no") !== "",
    identical: all.every(({ differences }) => differences.length === 0),
    cases: rows.reduce((sum, row) => sum + row.cases, 0),
    digests: {
      ...buildDigests(schema, routes),
      openApi: digestOf(readFileSync(join(ROOT, "rest-compat/openapi.json"), "utf8")),
      asyncApi: digestOf(readFileSync(join(ROOT, "src/events/schemas/asyncapi.json"), "utf8")),
      results: digestOf(JSON.stringify(results)),
    },
    rows,
    operations,
    deliveries,
  };
}

/** Output of git; empty outside a repository. */
function git(...words: readonly string[]): string {
  try {
    return execFileSync("git", words, {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "";
  }
}
