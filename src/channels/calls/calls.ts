import { labelled, type Chat } from "../../chats/chats/chats";
import { Chats } from "../../chats/chats/chats";
import { connectionOf, type Connection, type ConnectionQuery } from "../../platform/database/connection";
import { whereText } from "../../platform/database/long-texts";
import { timeOf } from "../../platform/database/order";
import type { Rows } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";
import { DomainError, missing } from "../../platform/errors";

/** A telephone call, or a call from a web page: a chat, and what is known of its connection. Its id is the chat's. */
export interface Call extends Pick<
  Chat,
  | "id"
  | "assistantId"
  | "status"
  | "label"
  | "phoneNumber"
  | "userName"
  | "userId"
  | "anonymousId"
  | "externalId"
  | "variables"
  | "metadata"
  | "recordingUrl"
  | "endedAt"
  | "endedReason"
> {
  readonly kind: "PHONE" | "WEB";
  readonly workflowId: string | null;
  readonly deploymentId: string | null;
  /** When the engine said that it dials. */
  readonly dialedAt: Date | null;
  readonly answeredAt: Date | null;
  readonly createdAt: Date;
}

/** Holds a call that no engine does. */
export const PAGE = "page";

export interface CallFilter {
  readonly status?: string | null;
  readonly assistantId?: string | null;
  readonly workflowId?: string | null;
  readonly deploymentId?: string | null;
  readonly phoneNumber?: string | null;
  readonly externalId?: string | null;
  readonly userId?: string | null;
  /** Placed at or after this moment. */
  readonly from?: Date | null;
  /** Placed before this moment. */
  readonly to?: Date | null;
}

/** What is kept of a call beside its chat. */
export interface CallRow extends Pick<
  Call,
  "kind" | "workflowId" | "deploymentId" | "dialedAt" | "answeredAt" | "createdAt"
> {
  readonly chatId: string;
  /** `PAGE` for a call that a web page of ours holds. */
  readonly engine: string;
  /** Whose limits of dialling hold; null where there are none. */
  readonly line: string | null;
  readonly sealedSecret: string;
  readonly engineCallId: string | null;
  readonly dialAttempts: number;
  /** Since when the engine may have been asked. */
  readonly dialingSince: Date | null;
  /** When it was asked last. */
  readonly askedAt: Date | null;
  /** When the engine last called back. */
  readonly heardAt: Date | null;
  /** Whether its transcripts come one by one. */
  readonly transcribed: boolean;
  /** Stands on what the assistant is heard to say. */
  readonly spoken: Record<string, unknown>;
}

const OF_CHAT = [
  "id",
  "assistantId",
  "status",
  "label",
  "firstWords",
  "phoneNumber",
  "userName",
  "userId",
  "anonymousId",
  "externalId",
  "variables",
  "metadata",
  "recordingUrl",
  "endedAt",
  "endedReason",
] as const satisfies (keyof Rows["chats"])[];
const OF_CALL = [
  "kind",
  "workflowId",
  "deploymentId",
  "dialedAt",
  "answeredAt",
  "createdAt",
] as const satisfies (keyof Rows["calls"])[];
const COLUMNS = [...OF_CHAT.map((name) => `chats.${name}`), ...OF_CALL.map((name) => `calls.${name}`)];

type Joined = Pick<Rows["chats"], (typeof OF_CHAT)[number]> & Pick<Rows["calls"], (typeof OF_CALL)[number]>;

/** The calls of an organization, live and ended. */
export class Calls {
  constructor(private readonly scope: Scope) {}

  /** @throws CALL_NOT_FOUND */
  async byId(id: string): Promise<Call> {
    const loader = this.scope.loader<Call | undefined>("calls", async (ids) => {
      const rows = await this.joined().whereIn("calls.chatId", ids);
      const found = new Map(rows.map((row) => [row.id, labelled(row)]));
      return ids.map((one) => found.get(one));
    });
    return (await loader.load(id)) ?? missing("Call");
  }

  /** The newest first. */
  async list({ first, after }: ConnectionQuery, filter: CallFilter = {}): Promise<Connection<Call>> {
    const take = first ?? 20;
    const rows = this.joined()
      .orderBy([
        { column: "calls.createdAt", order: "desc" },
        { column: "calls.chatId", order: "desc" },
      ])
      .limit(take + 1);
    const { from, to, externalId, userId, ...equal } = filter;
    if (after != null) {
      const last = this.scope.table("calls").select("createdAt").where({ chatId: after });
      rows.whereRaw("(calls.created_at, calls.chat_id) < (coalesce((?), ?), ?)", [
        last,
        timeOf(after),
        after,
      ]);
    }
    for (const [name, value] of Object.entries({ externalId, userId }))
      if (value != null) whereText(rows, `chats.${name}`, value);
    for (const [name, value] of Object.entries(equal))
      if (value != null) rows.where(`chats.${name}`, value as string);
    if (from != null) rows.where("calls.createdAt", ">=", from);
    if (to != null) rows.where("calls.createdAt", "<", to);
    return connectionOf((await rows).map(labelled), take);
  }

  /** Ends a live call, also one that waits to be dialled. @throws CALL_NOT_FOUND; CHAT_ENDED when it had ended before */
  async cancel(id: string): Promise<Call> {
    return this.scope.transaction(async (scope) => {
      await scope.of(Calls).byId(id);
      if (!(await scope.of(Chats).endIfLive(id, "cancelled")))
        throw new DomainError("CHAT_ENDED", "The call has ended already.");
      scope.forget();
      return scope.of(Calls).byId(id);
    });
  }

  /** A call without its chat. */
  async row(chatId: string): Promise<CallRow | undefined> {
    const [row] = await this.scope.table("calls").where({ chatId });
    return row;
  }

  async change(chatId: string, changes: Partial<CallRow>): Promise<void> {
    await this.scope.table("calls").where({ chatId }).update(changes);
  }

  private joined() {
    const calls = this.scope.table("calls").select<Joined[]>(COLUMNS);
    return this.scope.join(calls, "chats", "calls.chatId", "chats.id");
  }
}
