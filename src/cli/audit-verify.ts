import { readFileSync } from "node:fs";
import { chainOf, readExport } from "../account/audit/audit-export";
import { AuditLog } from "../account/audit/audit-log";
import type { AuditHead } from "../account/audit/chain";
import { verifyChain, type AuditVerdict } from "../account/audit/verify";
import type { Database } from "../platform/database/database";
import COMMANDS from "./commands.json";
import { command, existingOrganization } from "./command";

/**
 * Verifies the audit chains of all organizations, of one, or of an exported file. The exit code is 1 if an entry was
 * changed or is missing.
 */
const { usage: USAGE } = COMMANDS["cli/audit-verify"];

command(
  { usage: USAGE, options: ["organization", "head", "file"] },
  async (database, { organization, head, file }) => {
    const published = head === undefined ? [] : [headOf(head)];
    if (published.length > 0 && organization === undefined && file === undefined)
      throw new Error("--head applies to one organization: add --organization ID, or --file EXPORT.");
    const verdicts =
      file === undefined
        ? await verifyStored(database, organization, published)
        : [await verifyExport(file, published)];
    if (verdicts.some(({ problem }) => problem)) process.exitCode = 1;
    return verdicts.map((verdict) => ({ verdict: verdict.problem ? "BROKEN" : "UNBROKEN", ...verdict }));
  },
);

async function verifyExport(file: string, published: readonly AuditHead[]): Promise<AuditVerdict> {
  const { rows, heads } = readExport(readFileSync(file, "utf8").split("\n"));
  const verdict = await verifyChain(rows, [...heads, ...published]);
  if (verdict.problem || heads.length > 0) return verdict;
  const position = verdict.head.position + 1;
  return {
    ...verdict,
    problem: { position, problem: "missing: the export ends without the head of its chain" },
  };
}

async function verifyStored(
  database: Database,
  organization: string | undefined,
  published: readonly AuditHead[],
): Promise<(AuditVerdict & { organizationId: string })[]> {
  const ids =
    organization === undefined
      ? await database.everyOrganization()
      : [await existingOrganization(database, organization)];
  const verdicts = [];
  for (const organizationId of ids) {
    const scope = database.scope(organizationId);
    const head = await scope.of(AuditLog).head();
    const all = { position: Number.MAX_SAFE_INTEGER, hash: "" };
    const rows = chainOf(scope, published.length > 0 || head.position === 0 ? all : head);
    verdicts.push({ organizationId, ...(await verifyChain(rows, [head, ...published])) });
  }
  return verdicts;
}

/** @throws Error if the text is not a head */
function headOf(text: string): AuditHead {
  const [, position, hash] = /^(\d{1,15}):([\da-f]{64})$/.exec(text) ?? [];
  if (position === undefined || hash === undefined)
    throw new Error(
      `--head must be POSITION:HASH with 64 hexadecimal digits, such as 12:0d5f…\nUsage: ${USAGE}`,
    );
  return { position: Number(position), hash };
}
