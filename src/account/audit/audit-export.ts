import type { Scope } from "../../platform/database/scope";
import { AuditLog } from "./audit-log";
import type { AuditHead, ChainedAudit } from "./chain";

/** Rows read by one statement. */
const BATCH_SIZE = 1_000;

/** The rows of an organization up to a head, in order. Reads them in batches. */
export async function* chainOf(scope: Scope, { position: last }: AuditHead): AsyncGenerator<ChainedAudit> {
  for (let position = 0; position < last;) {
    const rows = await scope.of(AuditLog).after(position, Math.min(BATCH_SIZE, last - position));
    yield* rows;
    const lastRow = rows.at(-1);
    if (!lastRow) return;
    position = lastRow.position;
  }
}

/** The log of an organization as NDJSON: one row per line, then the head of the chain. */
export async function* exportAudit(scope: Scope): AsyncGenerator<string> {
  await scope.of(AuditLog).sealForRead();
  const head = await scope.of(AuditLog).head();
  for await (const row of chainOf(scope, head)) yield `${JSON.stringify(row)}\n`;
  yield `${JSON.stringify({ head: { organizationId: scope.organizationId, ...head } })}\n`;
}

/** Reads an export. @throws Error for a line that is not JSON */
export function readExport(lines: Iterable<string>): { rows: ChainedAudit[]; heads: AuditHead[] } {
  const rows: ChainedAudit[] = [];
  const heads: AuditHead[] = [];
  let number = 0;
  for (const line of lines) {
    number++;
    if (line.trim() === "") continue;
    const entry = parseLine(line, number) as { head: AuditHead } | (ChainedAudit & { createdAt: string });
    if ("head" in entry) heads.push(entry.head);
    else rows.push({ ...entry, createdAt: new Date(entry.createdAt) });
  }
  return { rows, heads };
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`Line ${number} is not JSON: this is not an export of the audit log.`);
  }
}
