import { importLogs, type ImportedLog, type LogImport } from "../../chats/logs/import-logs";
import type { New } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { invalid, type Problem } from "../../platform/errors";
import type { Call } from "./calls";
import { newCallSecret, sealSecret } from "./secrets";

/** A call that has ended on another service. */
export interface ImportedCall extends Pick<Call, "kind"> {
  /** Default: the start of the conversation. */
  readonly createdAt?: Date | null;
  readonly dialedAt?: Date | null;
  readonly answeredAt?: Date | null;
}

/** A conversation that has ended on another service, with the call that it was. */
export interface ImportedConversation extends ImportedLog {
  readonly call?: ImportedCall | null;
}

/** Engine name of calls of another service: no engine of this one knows them. */
const IMPORTED = "imported";

/**
 * Stores conversations of another service as logs of an assistant, and the calls that they were. Logs that exist stay as
 * they are. Runs in a transaction.
 * @throws BAD_USER_INPUT for a call on another channel, or an end before the start; and as `importLogs`
 */
export async function importConversations(
  scope: Scope,
  assistantId: string,
  logs: readonly ImportedConversation[],
): Promise<LogImport> {
  const problems = logs.flatMap(problemsOf);
  if (problems.length > 0) throw invalid(problems);
  const { stored, ...result } = await importLogs(scope, assistantId, logs);
  await scope.insertAll(
    "calls",
    stored.flatMap((log) => (log.call ? [callOf(scope, log, log.call)] : [])),
  );
  return result;
}

function problemsOf({ type, createdAt, endedAt, call }: ImportedConversation, index: number): Problem[] {
  const problems: Problem[] = [];
  if (endedAt && endedAt < createdAt)
    problems.push({ path: `logs.${index}.endedAt`, message: "must not be before createdAt" });
  if (call && type !== "VOICE")
    problems.push({ path: `logs.${index}.call`, message: "must be omitted unless type is VOICE" });
  return problems;
}

const callOf = (scope: Scope, log: ImportedConversation, call: ImportedCall): New<"calls"> => ({
  chatId: log.id,
  kind: call.kind,
  engine: IMPORTED,
  sealedSecret: sealSecret(scope, log.id, newCallSecret()), // no callback is found by it
  ...{ workflowId: log.workflowId, deploymentId: log.deploymentId },
  createdAt: call.createdAt ?? log.createdAt,
  ...{ dialedAt: call.dialedAt, answeredAt: call.answeredAt },
});
