import { EMPTY_HEAD, hashOf, type AuditHead, type ChainedAudit } from "./chain";

/** The first position at which a chain is inconsistent. */
export interface AuditProblem {
  readonly position: number;
  readonly problem: string;
}

export interface AuditVerdict {
  readonly head: AuditHead;
  readonly problem?: AuditProblem;
}

/**
 * Verifies a chain from its first row.
 * @param rows in order of position
 * @param published heads that the chain must contain: the stored one, and others from a log, an export or a backup
 */
export async function verifyChain(
  rows: AsyncIterable<ChainedAudit> | Iterable<ChainedAudit>,
  published: readonly AuditHead[],
): Promise<AuditVerdict> {
  let head = EMPTY_HEAD;
  for await (const row of rows) {
    const problem = problemOf(row, head, published);
    if (problem !== undefined) return { head, problem };
    head = { position: row.position, hash: row.hash };
  }
  const cut = published.some(({ position }) => position > head.position);
  if (!cut) return { head };
  const position = head.position + 1;
  return { head, problem: { position, problem: "missing: the chain ends before its published head" } };
}

function problemOf(
  row: ChainedAudit,
  before: AuditHead,
  published: readonly AuditHead[],
): AuditProblem | undefined {
  const { position } = row;
  const expected = before.position + 1;
  if (position !== expected)
    return { position: expected, problem: `missing: the next row has position ${position}` };
  if (row.previousHash !== before.hash)
    return { position, problem: "out of place: it does not follow the row before it" };
  if (hashOf(row) !== row.hash) return { position, problem: "changed: its hash does not match its content" };
  if (published.some((head) => head.position === position && head.hash !== row.hash))
    return { position, problem: "replaced: its hash differs from the published head" };
  return undefined;
}
