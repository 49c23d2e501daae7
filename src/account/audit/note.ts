import type { Caller } from "../auth/caller";
import {
  AuditedOperation,
  type AuditedField,
  type AuditNote,
  type StoredWith,
} from "../../platform/database/audited-operation";
import type { Scope } from "../../platform/database/scope";

/** Who changes something: a caller, the command line, a job of the service itself, or a provider with a signature or secret. */
export type AuditActor = Caller["kind"] | "OPERATOR" | "SYSTEM" | "PROVIDER";

export type { AuditedField };

/** Tables whose first new row is the record of an operation. */
export type RecordTable = "chats" | "files" | "telephony_connections" | "api_keys";

/** How a request came in. */
export interface Origin {
  readonly interface: "GRAPHQL" | "REST" | "CALLBACK" | "COMMAND" | "JOB";
  readonly address?: string | undefined;
  readonly requestId?: string;
}

/** Keyed digest of a person's words or identifier, or of anything else that came with them. */
export const digestOf = ({ ports, organizationId }: Scope, value: unknown): string =>
  ports.crypto.digest(digested(organizationId, value));

/** Every digest that stands for a value, under the former keys too. */
export const digestsOf = ({ ports, organizationId }: Scope, value: unknown): string[] =>
  ports.crypto.digests(digested(organizationId, value));

const digested = (organizationId: string, value: unknown) => JSON.stringify([organizationId, value]);

/** An operation of a caller, to be recorded with its change. */
export const operationOf = (
  scope: Scope,
  caller: Caller | undefined,
  origin: Origin,
  about: OperationInfo,
  creates?: RecordTable,
): AuditedOperation => new AuditedOperation(noteOf(scope, caller, origin, about), creates);

type OperationInfo = Pick<AuditNote, "kind" | "operation" | "recordType" | "fields">;

function noteOf(
  scope: Scope,
  caller: Caller | undefined,
  { address, requestId, interface: by }: Origin,
  about: OperationInfo,
): AuditNote {
  const person = caller && personOf(caller);
  return {
    ...about,
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

/** A person's words and identifiers by name and digest, all else by name. */
export const fieldOf = (scope: Scope, name: string, value: unknown, isPersonal: boolean): AuditedField =>
  isPersonal && value != null ? { name, digest: digestOf(scope, value) } : { name };

/** A command on the server, and what the service does for its operator at the start. */
export function commandOf(
  operation: string,
  recordType: string,
  fields: readonly AuditedField[] = [],
  creates?: RecordTable,
): AuditedOperation {
  const note = { kind: "CHANGE", actor: "OPERATOR", interface: "COMMAND" } as const;
  return new AuditedOperation({ ...note, operation, recordType, fields }, creates);
}

/**
 * A job that changes or deletes rows without a request for them, such as retention.
 * @param recordId null for a batch of rows, whose number `AuditedOperation.count` takes
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
  readonly storedWith?: StoredWith;
}

interface Callback {
  readonly operation: string;
  readonly recordType: string;
  readonly address: string;
  /** Telephone number of the person who called or wrote. */
  readonly phoneNumber?: string | null;
  readonly fields: readonly AuditedField[];
}

/** What a provider's callback changes, recorded with the first event of it or by the statement that stores it. */
export function callbackOf(
  scope: Scope,
  { phoneNumber, ...about }: Callback,
  creates?: RecordTable,
): AuditedOperation {
  const person = phoneNumber == null ? null : digestOf(scope, phoneNumber);
  const note = { kind: "CHANGE", actor: "PROVIDER", interface: "CALLBACK", person, ...about } as const;
  return new AuditedOperation(note, creates, "events");
}
