import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { connectionOf, type Connection, type ConnectionQuery } from "../../platform/database/connection";
import type { Conditions } from "../../platform/database/filtered";
import { newId } from "../../platform/database/ids";
import { perId, readPerId } from "../../platform/database/per-id";
import { byAge, timeOf } from "../../platform/database/order";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { EndUsers } from "./end-users";
import { DomainError, missing } from "../../platform/errors";
import { Events } from "../../events/events/events";

/** The channel on which pieces of an answer are told to every server process as they come. */
export const TOKENS_CHANNEL = "parley_tokens";

/** How far a chat is: it only goes forward. */
export const STATUSES = ["queued", "ringing", "in-progress", "forwarding", "ended"] as const;
export type ChatStatus = (typeof STATUSES)[number];

export interface Chat {
  readonly id: string;
  readonly assistantId: string;
  readonly channel: Channel;
  readonly status: ChatStatus;
  /** Made anew at each change of the status. */
  readonly statusEventId: string;
  /** How many messages the chat had at each change of its status, by `statusEventId`. */
  readonly statusPlaces: Readonly<Record<string, number>>;
  readonly label: string;
  readonly phoneNumber: string | null;
  readonly userId: string | null;
  readonly uniqueId: string | null;
  /** Of the person who was called. */
  readonly userName: string | null;
  readonly anonymousId: string | null;
  readonly externalId: string | null;
  readonly variables: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
  readonly recordingUrl: string | null;
  readonly messageCount: number;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly endedReason: string | null;
  /** The workflow that it runs. */
  readonly workflowId: string | null;
  readonly deploymentId: string | null;
  /** Where in the workflow it stands. */
  readonly workflowNodeId: string | null;
}

/** What a page's visitor leaves on a chat. */
export interface Visited {
  /** Whose it is: the browser's, as its visitor token has it. */
  readonly visitorId: string | null;
  /** Whether `uniqueId` is the organization's word, or signed by it. */
  readonly identityProven: boolean;
}

export interface ChatFilter {
  readonly channel?: Channel | null;
  readonly status?: string | null;
  readonly startedAfter?: Date | null;
  readonly startedBefore?: Date | null;
}

/** A chat as it is stored. */
export type ChatRow = Omit<Chat, "label"> &
  Visited & {
    /** What went wrong in turns of the assistant. */
    readonly errors: readonly { readonly at: string; readonly message: string }[];
    readonly setVariables: Readonly<Record<string, unknown>> | null;
    readonly label: string | null;
    readonly firstWords: string | null;
    /** Place of the last message that was answered. */
    readonly answeredSequence: number;
    /** Why its workflow has ended, while the voice engine is still to hang up. */
    readonly ending: string | null;
  };

/** Spec gap: a log's label is the user's name or number, else the first words said. */
export const labelled = <R extends Pick<ChatRow, "label" | "phoneNumber" | "firstWords">>(
  row: R,
): R & { label: string } => ({
  ...row,
  label: row.label ?? row.phoneNumber ?? row.firstWords ?? "",
});

/** What a new chat notes of its first status. */
export function firstStatus() {
  const statusEventId = newId();
  return { statusEventId, statusPlaces: { [statusEventId]: 0 } };
}

const CHAT_BY_ID = statement(({ table, $ }) => table("chats").where("id", $(1)));

/** Conditions of a list of chats. */
const CONDITIONS: Conditions<keyof ChatFilter | "after"> = {
  channel: (rows, value) => rows.where("channel", value),
  status: (rows, value) => rows.where("status", value),
  startedAfter: (rows, value) => rows.where("startedAt", ">", value),
  startedBefore: (rows, value) => rows.where("startedAt", "<", value),
  /** Its value is the time that the cursor's id tells, for a chat that was removed, and the id. */
  after: (rows, cursor, { table, db }) => {
    const [time, id] = [db.raw("(?::text[])[1]", [cursor]), db.raw("(?::text[])[2]", [cursor])];
    const last = table("chats").select("startedAt").where("id", id);
    return rows.whereRaw("(started_at, id) < (coalesce((?), ?::timestamptz), ?)", [last, time, id]);
  },
};

const listBy = (column: "assistantId" | "uniqueId") =>
  perId<ChatRow, keyof typeof CONDITIONS>(
    ({ table, db, narrowed }) =>
      narrowed(table("chats").where(column, db.raw("wanted.id"))).orderBy(byAge("desc", "startedAt")),
    { conditions: CONDITIONS },
  );
const LISTS = { assistantId: listBy("assistantId"), uniqueId: listBy("uniqueId") };

/** The chats of an organization, live and ended. */
export class Chats {
  constructor(private readonly scope: Scope) {}

  /** @throws CHAT_NOT_FOUND */
  async byId(id: string): Promise<Chat> {
    return labelled((await this.row(id)) ?? missing("Chat"));
  }

  /** A chat as it is stored. */
  async row(id: string): Promise<ChatRow | undefined> {
    const [row] = await this.scope.read(CHAT_BY_ID, [id]);
    return row;
  }

  /** The chats with one assistant or of one person, the newest first; the same query for many of them is one statement. */
  async where(
    owner: { assistantId: string } | { uniqueId: string },
    { first, after }: ConnectionQuery,
    filter: ChatFilter = {},
  ): Promise<Connection<Chat>> {
    const take = first ?? 20;
    const [[column, id]] = Object.entries(owner) as [[keyof typeof LISTS, string]];
    const asked = { ...filter, after: after == null ? null : [timeOf(after), after] };
    const loader = this.scope.loader<ChatRow[]>(`chats.${column}.${take}.${JSON.stringify(asked)}`, (ids) =>
      readPerId(this.scope, LISTS[column], ids, { take: take + 1 }, asked),
    );
    return connectionOf((await loader.load(id)).map(labelled), take);
  }

  /** @throws CHAT_NOT_FOUND; CHAT_ENDED when it had ended before */
  async end(id: string, reason = "ended-by-api"): Promise<Chat> {
    return this.scope.transaction(async (scope) => {
      const [ended] = await scope.of(Chats).endWhere({ id }, reason);
      if (ended) return labelled(ended);
      await scope.of(Chats).byId(id);
      throw new DomainError("CHAT_ENDED", "The chat has ended already.");
    });
  }

  /** Moves a chat on, in a transaction; undefined when it is that far already, or has ended. */
  async advance(id: string, status: Exclude<ChatStatus, "ended">): Promise<ChatRow | undefined> {
    const [row] = await this.scope
      .table("chats")
      .where({ id })
      .whereIn("status", STATUSES.slice(0, STATUSES.indexOf(status)))
      .update({ status, ...this.changed() })
      .returning("*");
    if (!row) return undefined;
    await this.scope.of(Events).statusChanged(row);
    return row;
  }

  /**
   * Ends a chat, in a transaction; undefined when it has ended already.
   * @param hangUp whether a voice engine is told; it need not be when it was who said so
   */
  async endIfLive(id: string, reason: string, hangUp = true): Promise<ChatRow | undefined> {
    const [row] = await this.endWhere({ id }, reason, hangUp);
    return row;
  }

  /** Ends every live chat with an assistant, or in a workflow. */
  async endAll(owner: { assistantId: string } | { workflowId: string }, reason: string): Promise<void> {
    await this.endWhere(owner, reason);
  }

  /** What a change of the status notes in the chat. */
  private changed() {
    const statusEventId = newId();
    const statusPlaces = this.scope.noted("statusPlaces", statusEventId, "messageCount");
    return { statusEventId, statusPlaces };
  }

  private async endWhere(
    condition: { id: string } | { assistantId: string } | { workflowId: string },
    endedReason: string,
    hangUp = true,
  ): Promise<ChatRow[]> {
    const rows = await this.scope
      .table("chats")
      .where(condition)
      .whereNot({ status: "ended" })
      .update({ status: "ended", ...this.changed(), endedAt: currentDate(), endedReason })
      .returning("*");
    const events = this.scope.of(Events);
    for (const row of rows) {
      await events.statusChanged(row);
      await events.sessionEnded(row);
      if (hangUp && row.channel === "VOICE") await this.scope.enqueue("call.hangUp", { chatId: row.id });
      if (row.uniqueId !== null) await this.scope.of(EndUsers).keepEnd({ ...row, uniqueId: row.uniqueId });
    }
    return rows;
  }
}
