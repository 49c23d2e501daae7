import type { Caller } from "../auth/caller";
import {
  AuditedOperation,
  type AuditedField,
  type AuditActor,
  type AuditNote,
  type EntryTiming,
} from "../../platform/database/tables/audited-operation";
import type { Scope } from "../../platform/database/scope";

export type { AuditActor };

export type { AuditedField };

/** A table whose first new row is the record of an operation. */
export type RecordTable =
  "assistants" | "chats" | "files" | "telephony_connections" | "api_keys" | "erasures";

/** How a request came in. */
export interface Origin {
  readonly interface: AuditNote["interface"];
  readonly address?: string | undefined;
  readonly requestId?: string;
}

/** Keyed digest of a value, such as a person's text or identifier. */
export const digestOf = ({ ports, organizationId }: Scope, value: unknown): string =>
  ports.crypto.digest(digestInput(organizationId, value));

/** All digests of a value: with the present key and the former ones. */
export const digestsOf = ({ ports, organizationId }: Scope, value: unknown): string[] =>
  ports.crypto.digests(digestInput(organizationId, value));

const digestInput = (organizationId: string, value: unknown) => JSON.stringify([organizationId, value]);

/** An operation of a caller, recorded with its change. */
export const operationOf = (
  scope: Scope,
  caller: Caller | undefined,
  origin: Origin,
  about: OperationInfo,
  creates?: RecordTable,
): AuditedOperation =>
  new AuditedOperation(noteOf(scope, caller, origin, about), creates, undefined, caller?.userId);

type OperationInfo = Pick<AuditNote, "kind" | "operation" | "recordType" | "fields">;

function noteOf(
  scope: Scope,
  caller: Caller | undefined,
  { address, requestId, interface: by }: Origin,
  { kind, operation, recordType, fields }: OperationInfo,
): AuditNote {
  const person = caller && personOf(caller);
  return {
    kind,
    operation,
    recordType,
    fields,
    actor: caller?.kind ?? "ANONYMOUS",
    keyId: caller?.keyId ?? null,
    person: person === undefined ? null : digestOf(scope, person),
    address: address ?? null,
    interface: by,
    requestId: requestId ?? null,
  };
}

/** The user of a token, or the visitor of a web page. */
function personOf({ userId, visitor }: Caller): string | undefined {
  if (!visitor) return userId;
  return "chatId" in visitor ? visitor.chatId : (visitor.uniqueId ?? visitor.id);
}

/** A field of an entry: personal data by name and digest, other fields by name only. */
export const fieldOf = (scope: Scope, name: string, value: unknown, isPersonal: boolean): AuditedField =>
  isPersonal && value != null ? { name, digest: digestOf(scope, value) } : { name };

/** An operation of the command line, or of the service itself during startup. */
export function commandOf(
  operation: string,
  recordType: string,
  fields: readonly AuditedField[] = [],
  creates?: RecordTable,
): AuditedOperation {
  return new AuditedOperation({ ...COMMAND, kind: "CHANGE", operation, recordType, fields }, creates);
}

/** An operation of the command line that discloses a secret of an organization. */
export function disclosingCommandOf(
  operation: string,
  organizationId: string,
  field: string,
): AuditedOperation {
  const fields = [{ name: field }];
  const disclosing = new AuditedOperation({
    ...COMMAND,
    kind: "DISCLOSURE",
    operation,
    recordType: "Organization",
    fields,
  });
  disclosing.about(organizationId);
  return disclosing;
}

const COMMAND = { actor: "OPERATOR", interface: "COMMAND" } as const;

/**
 * An operation of a job that no request asked for, such as retention.
 * @param recordId null for a batch of rows, which `AuditedOperation.count` counts
 */
export function jobOf(
  operation: string,
  recordType: string,
  recordId: string | null,
  { fields = [], storedWith = recordId === null ? "counts" : "transaction" }: JobOptions = {},
): AuditedOperation {
  const note = { kind: "CHANGE", actor: "SYSTEM", interface: "JOB" } as const;
  const job = new AuditedOperation({ ...note, operation, recordType, fields }, undefined, storedWith);
  job.about(recordId);
  return job;
}

interface JobOptions {
  readonly fields?: readonly AuditedField[];
  readonly storedWith?: EntryTiming;
}

interface Callback {
  readonly operation: string;
  readonly recordType: string;
  readonly address: string;
  /** Phone number of the person who called or texted. */
  readonly phoneNumber?: string | null;
  readonly fields: readonly AuditedField[];
}

/** An operation of a provider's callback, recorded with its first event or by the statement that stores the change. */
export function callbackOf(
  scope: Scope,
  { phoneNumber, ...about }: Callback,
  creates?: RecordTable,
): AuditedOperation {
  const person = phoneNumber == null ? null : digestOf(scope, phoneNumber);
  const note = { kind: "CHANGE", actor: "PROVIDER", interface: "CALLBACK", person, ...about } as const;
  return new AuditedOperation(note, creates, "events");
}
