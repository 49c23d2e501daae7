import type { Knex } from "knex";
import { withLabel, type Chat } from "../../chats/chats/chats";
import { Chats } from "../../chats/chats/chats";
import {
  checkCursors,
  connectionBy,
  countOf,
  placeByAge,
  spanned,
  spanOf,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { byTime } from "../../platform/database/lists/cursors";
import type { Rows } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { DomainError, missing } from "../../platform/errors";
import { fewChats, ofChats, whereCalled, type CalledFilter } from "./few-calls";

/** A phone or web call: its chat and its connection data. The call's id is the chat's. */
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
  /** Time at which the engine accepted the call for dialing. */
  readonly dialedAt: Date | null;
  readonly answeredAt: Date | null;
  readonly createdAt: Date;
}

/** Engine name of web calls that run in the widget's own page, without a voice engine. */
export const PAGE = "page";

export interface CallFilter extends CalledFilter {
  /** Placed at or after this time. */
  readonly from?: Date | null;
  /** Placed before this time. */
  readonly to?: Date | null;
}

/** The stored columns of a call beside its chat's. */
export interface CallRow extends Pick<
  Call,
  "kind" | "workflowId" | "deploymentId" | "dialedAt" | "answeredAt" | "createdAt"
> {
  readonly chatId: string;
  /** Name of the voice engine; `PAGE` for a call in the widget's own page. */
  readonly engine: string;
  /** Id of the line whose dialing limits apply; null if none apply. */
  readonly line: string | null;
  readonly sealedSecret: string;
  readonly engineCallId: string | null;
  readonly dialAttempts: number;
  /** Time of the first request to dial. */
  readonly dialingSince: Date | null;
  /** Time of the last request to dial. */
  readonly askedAt: Date | null;
  /** Time of the engine's last callback. */
  readonly heardAt: Date | null;
  /** Whether the engine sends transcripts one by one. */
  readonly transcribed: boolean;
  /** Metadata added to each message that the assistant speaks. */
  readonly spoken: Record<string, unknown>;
}

const CHAT_COLUMNS = [
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
const CALL_COLUMNS = [
  "kind",
  "workflowId",
  "deploymentId",
  "dialedAt",
  "answeredAt",
  "createdAt",
] as const satisfies (keyof Rows["calls"])[];
const COLUMNS = [
  ...CHAT_COLUMNS.map((name) => `chats.${name}`),
  ...CALL_COLUMNS.map((name) => `calls.${name}`),
];

type JoinedRow = Pick<Rows["chats"], (typeof CHAT_COLUMNS)[number]> &
  Pick<Rows["calls"], (typeof CALL_COLUMNS)[number]>;

function within<Q extends Knex.QueryBuilder>(calls: Q, { from, to }: Pick<CallFilter, "from" | "to">): Q {
  if (from != null) void calls.where("calls.createdAt", ">=", from);
  if (to != null) void calls.where("calls.createdAt", "<", to);
  return calls;
}

/** The calls of an organization, live and ended. */
export class Calls {
  constructor(private readonly scope: Scope) {}

  /** @throws CALL_NOT_FOUND */
  async byId(id: string): Promise<Call> {
    const loader = this.scope.loader<Call | undefined>("calls", async (ids) => {
      const rows = await this.joined().whereIn("calls.chatId", ids);
      const found = new Map(rows.map((row) => [row.id, withLabel(row)]));
      return ids.map((one) => found.get(one));
    });
    return (await loader.load(id)) ?? missing("Call", id);
  }

  /** Lists calls, by creation. */
  async list(query: ConnectionQuery, filter: CallFilter = {}): Promise<Connection<Call>> {
    const span = spanOf(query);
    await checkCursors(() => this.scope.table("calls"), query, { idColumn: "chatId" });
    const placeOf = (cursor: string) => placeByAge(this.scope.table("calls"), cursor, "chatId");
    const ids = await fewChats(this.scope, filter);
    const rows = ofChats(whereCalled(this.joined(), filter), ids);
    // The bound of a cursor first: PostgreSQL 18 begins to read an index at the first bound.
    const found = within(spanned(rows, span, ["calls.createdAt", "calls.chatId"], placeOf), filter);
    const calls = (await found).map(withLabel);
    return connectionBy(calls, query, byTime("createdAt"), () => this.count(filter, ids));
  }

  /** Reads chats only for conditions on them. @param ids of the chats, if these are few */
  private count(filter: CallFilter, ids: readonly string[] | undefined): Promise<number> {
    const { from, to, ...others } = filter;
    const isOfChats = Object.values(others).some((value) => value != null);
    const rows = isOfChats
      ? this.matching(filter).clearSelect()
      : within(this.scope.table("calls"), { from, to });
    return countOf(ofChats(rows, ids));
  }

  private matching(filter: CallFilter) {
    return within(whereCalled(this.joined(), filter), filter);
  }

  /** Ends a live call, even one that is still queued. @throws CALL_NOT_FOUND; CHAT_ENDED if it had already ended */
  async cancel(id: string): Promise<Call> {
    return this.scope.transaction(async (scope) => {
      await scope.of(Calls).byId(id);
      if (!(await scope.of(Chats).endIfLive(id, "cancelled")))
        throw new DomainError("CHAT_ENDED", "The call has already ended.");
      scope.forget();
      return scope.of(Calls).byId(id);
    });
  }

  /** The stored row of a call, without its chat. */
  async row(chatId: string): Promise<CallRow | undefined> {
    const [row] = await this.scope.table("calls").where({ chatId });
    return row;
  }

  async change(chatId: string, changes: Partial<CallRow>): Promise<void> {
    await this.scope.table("calls").where({ chatId }).update(changes);
  }

  private joined() {
    const calls = this.scope.table("calls").select<JoinedRow[]>(COLUMNS);
    return this.scope.join(calls, "chats", "calls.chatId", "chats.id");
  }
}
