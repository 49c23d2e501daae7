import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import {
  checkCursors,
  connectionBy,
  spanOf,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { byTime } from "../../platform/database/lists/cursors";
import { newId } from "../../platform/database/values/ids";
import { readCounts, readPerId } from "../../platform/database/lists/per-id";
import { replicated } from "../../platform/database/lists/replicated";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { countChats } from "./count-chats";
import { ALL_CHATS, boundsOf, chatsBy, filterOf, type ChatFilter } from "./chat-lists";
import { ChatDrafts } from "../../assistants/versions/chat-drafts";
import { EndUsers } from "./end-users";
import { DomainError, missing } from "../../platform/errors";
import { Events } from "../../events/events/events";

/** Channel of notifications with parts of answers while they are generated. */
export const TOKENS_CHANNEL = "parley_tokens";

/** Statuses of a chat in order: a chat never goes back. */
export const STATUSES = ["queued", "ringing", "in-progress", "forwarding", "ended"] as const;
export type ChatStatus = (typeof STATUSES)[number];

export interface Chat {
  readonly id: string;
  readonly assistantId: string;
  readonly channel: Channel;
  readonly status: ChatStatus;
  /** Generated at each change of the status. */
  readonly statusEventId: string;
  /** Number of messages at each change of the status, by `statusEventId`. */
  readonly statusPlaces: Readonly<Record<string, number>>;
  readonly label: string;
  readonly phoneNumber: string | null;
  readonly userId: string | null;
  readonly uniqueId: string | null;
  /** Name of the person who was called. */
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
  /** Current node of the workflow. */
  readonly workflowNodeId: string | null;
  /** Version of the assistant that it runs to its end; null if it follows the assistant. */
  readonly assistantVersion: number | null;
  /** Whether it runs a draft that is based on this version. */
  readonly runsDraft: boolean;
  /** Versions of the assistants of its workflow, by their ids; null if it runs none. */
  readonly speakerVersions: Readonly<Record<string, number>> | null;
}

/** Columns of a chat that a visitor of a web page sets. */
export interface VisitorColumns {
  /** Id of the browser, from its visitor token. */
  readonly visitorId: string | null;
  /** Whether the organization has set or signed `uniqueId`. */
  readonly identityProven: boolean;
}

/** A stored chat. */
export type ChatRow = Omit<Chat, "label"> &
  VisitorColumns & {
    /** Errors in turns of the assistant. */
    readonly errors: readonly { readonly at: string; readonly message: string }[];
    readonly setVariables: Readonly<Record<string, unknown>> | null;
    readonly label: string | null;
    readonly firstWords: string | null;
    /** Sequence of the last answered message. */
    readonly answeredSequence: number;
    /** The reason why its workflow has ended, until the voice engine has hung up. */
    readonly ending: string | null;
  };

type Labeled = Pick<ChatRow, "label" | "phoneNumber" | "firstWords">;

/** Spec gap: a log's label is the user's name or number, else the start of the first message. */
export const labelOf = ({ label, phoneNumber, firstWords }: Labeled): string =>
  label ?? phoneNumber ?? firstWords ?? "";

export const withLabel = <R extends Labeled>(row: R): R & { label: string } => ({
  ...row,
  label: labelOf(row),
});

/** Columns of a new chat for its first status. */
export function firstStatus() {
  const statusEventId = newId();
  return { statusEventId, statusPlaces: { [statusEventId]: 0 } };
}

const CHAT_BY_ID = statement(({ table, $ }) => table("chats").where("id", $(1)));
const CHATS_BY_ID = statement(({ table, $, db }) =>
  table("chats").where("id", db.raw("any(?::text[])", [$(1)])),
);

const LISTS = { assistantId: chatsBy("assistantId"), uniqueId: chatsBy("uniqueId") };

/** The chats of an organization, live and ended. */
export class Chats {
  constructor(private readonly scope: Scope) {}

  /** @throws CHAT_NOT_FOUND */
  async byId(id: string): Promise<Chat> {
    return withLabel((await this.row(id)) ?? missing("Chat", id));
  }

  /** Like `byId`, for chats of other records: calls in the same tick share one statement. @throws CHAT_NOT_FOUND */
  async ofRecord(id: string): Promise<Chat> {
    return withLabel((await this.shared(id)) ?? missing("Chat", id));
  }

  /** The stored chat; undefined if it does not exist. Calls in the same tick share one statement. */
  shared(id: string): Promise<ChatRow | undefined> {
    const loader = this.scope.loader<ChatRow | undefined>("chats", async (ids) => {
      const rows = await this.scope.read(CHATS_BY_ID, [ids]);
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((one) => found.get(one));
    });
    return loader.load(id);
  }

  /** The stored chat; undefined if it does not exist. */
  async row(id: string): Promise<ChatRow | undefined> {
    const [row] = await this.scope.read(CHAT_BY_ID, [id]);
    return row;
  }

  /** Chats of an assistant or a person. Calls in the same tick with equal queries share one statement. */
  async where(
    owner: { assistantId: string } | { uniqueId: string },
    query: ConnectionQuery,
    filter: ChatFilter = {},
  ): Promise<Connection<Chat>> {
    const span = spanOf(query);
    await checkCursors(() => this.scope.table("chats"), query);
    const [[column, id]] = Object.entries(owner) as [[keyof typeof LISTS, string]];
    const { found, count } = LISTS[column];
    const page = this.scope.loader<ChatRow[]>(`chats.${column}.${JSON.stringify([span, filter])}`, (ids) =>
      readPerId(
        this.scope,
        found[span.order],
        ids,
        { take: span.take + 1 },
        { ...filterOf(filter), ...boundsOf(span) },
      ),
    );
    const rows = await page.load(id);
    return connectionBy(rows.map(withLabel), query, byTime("startedAt"), () =>
      this.scope
        .loader<number>(`chats.${column}.count.${JSON.stringify(filter)}`, (ids) =>
          readCounts(this.scope, count, ids, filterOf(filter)),
        )
        .load(id),
    );
  }

  /** All chats. */
  async list(query: ConnectionQuery, filter: ChatFilter = {}): Promise<Connection<Chat>> {
    const span = spanOf(query);
    await checkCursors(() => this.scope.table("chats"), query);
    const { statement, values } = ALL_CHATS.found[span.order].by({ ...filterOf(filter), ...boundsOf(span) });
    const rows = await replicated(this.scope, (from) => from.read(statement, [span.take + 1, ...values]));
    return connectionBy(rows.map(withLabel), query, byTime("startedAt"), () =>
      countChats(this.scope, filter),
    );
  }

  /** @throws CHAT_NOT_FOUND, CHAT_ENDED */
  async end(id: string, reason = "ended-by-api"): Promise<Chat> {
    return this.scope.transaction(async (scope) => {
      const [ended] = await scope.of(Chats).endWhere({ id }, reason);
      if (ended) return withLabel(ended);
      await scope.of(Chats).byId(id);
      throw new DomainError("CHAT_ENDED", "The chat has already ended.");
    });
  }

  /** Advances the status of a chat, in a transaction. @returns undefined if it already has this or a later status */
  async advance(id: string, status: Exclude<ChatStatus, "ended">): Promise<ChatRow | undefined> {
    const [row] = await this.scope
      .table("chats")
      .where({ id })
      .whereIn("status", STATUSES.slice(0, STATUSES.indexOf(status)))
      .update({ status, ...this.statusChange() })
      .returning("*");
    if (!row) return undefined;
    await this.scope.of(Events).statusChanged(row);
    return row;
  }

  /**
   * Ends a chat, in a transaction.
   * @param options.hangUp whether to hang up a call; false if there is none, or the voice engine has reported its end
   * @returns undefined if the chat has already ended
   */
  async endIfLive(id: string, reason: string, { hangUp = true } = {}): Promise<ChatRow | undefined> {
    const [row] = await this.endWhere({ id }, reason, hangUp);
    return row;
  }

  /** Ends every live chat with an assistant, or in a workflow. */
  async endAll(owner: { assistantId: string } | { workflowId: string }, reason: string): Promise<void> {
    await this.endWhere(owner, reason);
  }

  /** Columns that change with the status. */
  private statusChange() {
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
      .update({ status: "ended", ...this.statusChange(), endedAt: currentDate(), endedReason })
      .returning("*");
    await this.scope.of(ChatDrafts).remove(rows);
    const events = this.scope.of(Events);
    for (const row of rows) {
      await events.statusChanged(row);
      await events.sessionEnded(row);
      if (hangUp && row.channel === "VOICE") await this.scope.enqueue("call.hangUp", { chatId: row.id });
      if (row.uniqueId !== null)
        await this.scope.of(EndUsers).storeContext({ ...row, uniqueId: row.uniqueId });
    }
    return rows;
  }
}
