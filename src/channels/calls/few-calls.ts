import type { Knex } from "knex";
import type { Scope } from "../../platform/database/scope";
import type { QueryOf } from "../../platform/database/statement";
import { whereText } from "../../platform/database/values/long-texts";

/** Conditions on the chats of calls. */
export interface CalledFilter {
  readonly status?: string | null;
  readonly assistantId?: string | null;
  readonly workflowId?: string | null;
  readonly deploymentId?: string | null;
  readonly phoneNumber?: string | null;
  readonly externalId?: string | null;
  readonly userId?: string | null;
}

/** Up to this many voice chats, their calls are read and sorted. With more, calls are read by age until a page is full. */
const FEW = 2_000;
/** Up to this many assistants of a limited caller are looked at. */
const FEW_ASSISTANTS = 20;

/** Adds the conditions of a filter to a query that reads chats. */
export function whereCalled<Q extends Knex.QueryBuilder>(rows: Q, filter: CalledFilter): Q {
  const { status, assistantId, workflowId, deploymentId, phoneNumber, externalId, userId } = filter;
  for (const [name, value] of Object.entries({ externalId, userId }))
    if (value != null) whereText(rows, `chats.${name}`, value);
  const equal = { status, assistantId, workflowId, deploymentId, phoneNumber };
  for (const [name, value] of Object.entries(equal))
    if (value != null) void rows.where(`chats.${name}`, value);
  return rows;
}

/** Restricts a query of calls to those of some chats. @param ids undefined for all */
export const ofChats = <Q extends Knex.QueryBuilder>(calls: Q, ids: readonly string[] | undefined): Q =>
  ids === undefined ? calls : (calls.whereRaw("calls.chat_id = any(?::text[])", [[...ids]]) as Q); // itself

/**
 * The ids of the voice chats that a filter matches, among them all of its calls. PostgreSQL cannot know that there are
 * few: it expects calls of each assistant and each person, and reads all of the organization to find none.
 * @returns undefined if there are many, and without conditions
 */
export async function fewChats(scope: Scope, filter: CalledFilter): Promise<string[] | undefined> {
  const { assistantId, workflowId, deploymentId, phoneNumber, externalId, userId } = filter;
  const others = [workflowId, deploymentId, phoneNumber, externalId, userId];
  const isOfOthers = others.some((value) => value != null);
  const assistants = assistantId != null || isOfOthers ? [assistantId] : (scope.assistantIds ?? []);
  if (assistants.length === 0 || assistants.length > FEW_ASSISTANTS) return undefined;
  const found = await Promise.all(assistants.map((id) => voiceChats(scope, { ...filter, assistantId: id })));
  const ids = found.flat().map(({ id }) => id);
  return ids.length > FEW ? undefined : ids;
}

/** Sorted as an index is, so that PostgreSQL uses it. */
function voiceChats(scope: Scope, filter: CalledFilter): QueryOf<{ readonly id: string }> {
  const columns = filter.assistantId == null ? ["chats.id"] : ["chats.startedAt", "chats.id"];
  return whereCalled(scope.table("chats").select<{ id: string }[]>("chats.id"), filter)
    .where("chats.channel", "VOICE") // of every call
    .orderBy(columns.map((column) => ({ column, order: "desc" })))
    .limit(FEW + 1);
}
