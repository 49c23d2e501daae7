import type { Scope } from "../../platform/database/scope";
import { AuditLog } from "./audit-log";
import type { AuditHead, ChainedAudit } from "./chain";

/** Rows read at once. */
const BATCH = 1_000;

/** The rows of an organization up to a head, in order, some at a time. */
export async function* chainOf(scope: Scope, { position: last }: AuditHead): AsyncGenerator<ChainedAudit> {
  for (let position = 0; position < last;) {
    const rows = await scope.of(AuditLog).after(position, Math.min(BATCH, last - position));
    yield* rows;
    const reached = rows.at(-1);
    if (!reached) return;
    position = reached.position;
  }
}

/** The whole log of an organization as NDJSON: one row a line, and the head of the chain at the end. */
export async function* exportAudit(scope: Scope): AsyncGenerator<string> {
  await scope.of(AuditLog).sealForRead();
  const head = await scope.of(AuditLog).head();
  for await (const row of chainOf(scope, head)) yield `${JSON.stringify(row)}\n`;
  yield `${JSON.stringify({ head: { organizationId: scope.organizationId, ...head } })}\n`;
}

/** Reads an export. @throws Error for a line that is not an entry or a head */
export function readExport(lines: Iterable<string>): { rows: ChainedAudit[]; heads: AuditHead[] } {
  const rows: ChainedAudit[] = [];
  const heads: AuditHead[] = [];
  let number = 0;
  for (const line of lines) {
    number++;
    if (line.trim() === "") continue;
    const entry = parsed(line, number) as { head: AuditHead } | (ChainedAudit & { createdAt: string });
    if ("head" in entry) heads.push(entry.head);
    else rows.push({ ...entry, createdAt: new Date(entry.createdAt) });
  }
  return { rows, heads };
}

function parsed(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`Line ${number} is not JSON: this is not an export of the audit log.`);
  }
}
