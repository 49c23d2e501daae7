import type { Repeater } from "@graphql-yoga/subscription";
import type { Scope } from "../../platform/database/scope";
import { invalid, quoted } from "../../platform/errors";
import { polled } from "../../platform/polled";
import { AuditLog } from "./audit-log";
import type { ChainedAudit } from "./chain";

/** The parts of an assistant. A change of one is about the id of its assistant. */
export const ASSISTANT_RECORDS = [
  "Assistant",
  "ChatConfiguration",
  "RagSettings",
  "SmsConfiguration",
  "ThemeConfiguration",
  "VoiceConfiguration",
] as const;

/** Types of records whose changes are streamed: all but conversations and persons. */
export const CHANGED_RECORDS = [
  ...ASSISTANT_RECORDS,
  ...["Deployment", "File", "Key", "ModelCredential", "ModelMapping", "Organization", "Project"],
  ...["TelephonyConnection", "WebhookDestination", "Workflow", "WorkflowEdge", "WorkflowNode"],
] as const;

/** Operations on such a record that change nothing of it. */
const CHANGES_NOTHING: ReadonlySet<string> = new Set([
  ...["testFunction", "testToolServer", "testModel"],
  ...["testWebhookDestination", "sendSampleEvents", "replayEvents"],
  "importLogs",
]);

/** A change of a record, by either interface, a command or a job. */
export interface RecordChange {
  /** Position in the audit log. */
  readonly id: string;
  readonly recordType: string;
  /** Null for a change of many records. */
  readonly recordId: string | null;
  readonly operation: string;
  /** Names of the fields that were sent. */
  readonly fields: readonly string[];
  readonly changedAt: Date;
}

interface Wanted {
  readonly recordTypes: readonly string[];
  readonly recordId?: string | null;
  readonly after?: string | null;
}

const BATCH_SIZE = 200;

/**
 * Streams changes of records in the order of the audit log, from now or after an earlier one, without a gap. Callers
 * limited to assistants get only changes of these.
 * @param fresh creates a scope for each read
 * @param as makes an item of a change
 * @throws BAD_USER_INPUT if `after` is not the id of a change
 */
export async function recordChanges<T>(
  fresh: () => Scope,
  { recordTypes, recordId, after }: Wanted,
  as: (change: RecordChange) => T,
): Promise<Repeater<T>> {
  const { assistantIds } = fresh();
  const isWanted = (row: ChainedAudit) =>
    row.kind === "CHANGE" &&
    recordTypes.includes(row.recordType) &&
    !CHANGES_NOTHING.has(row.operation) &&
    (recordId == null || row.recordId === recordId) &&
    (!assistantIds || (row.recordId !== null && assistantIds.includes(row.recordId)));
  let position = await begin(fresh().unlimited(), after);
  return polled(async () => {
    const log = fresh().unlimited().of(AuditLog);
    await log.sealWaiting();
    const rows = await log.after(position, BATCH_SIZE);
    position = rows.at(-1)?.position ?? position;
    return { items: rows.filter(isWanted).map((row) => as(changeOf(row))), more: rows.length === BATCH_SIZE };
  });
}

/** The position after which a stream begins. @throws BAD_USER_INPUT */
async function begin(scope: Scope, after: string | null | undefined): Promise<number> {
  await scope.of(AuditLog).sealForRead();
  const { position } = await scope.of(AuditLog).head();
  if (after == null) return position;
  if (!/^\d{1,15}$/.test(after) || Number(after) > position)
    throw invalid([
      { path: "after", message: `must be the id of a change that was received; got ${quoted(after)}` },
    ]);
  return Number(after);
}

const changeOf = ({
  position,
  recordType,
  recordId,
  operation,
  fields,
  createdAt,
}: ChainedAudit): RecordChange => ({
  ...{ id: String(position), recordType, recordId, operation },
  fields: fields.map(({ name }) => name),
  changedAt: createdAt,
});
