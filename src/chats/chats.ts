import type { Channel } from "../catalog/load-catalog";
import { connection, type Connection, type ConnectionQuery } from "../database/connection";
import { newId } from "../database/ids";
import type { Scope } from "../database/scope";
import { DomainError, missing } from "../errors";

/** The channel on which changed chats are told to every server process. */
export const CHATS_CHANNEL = "parley_chats";

export type ChatStatus = "queued" | "ringing" | "in-progress" | "forwarding" | "ended";

export interface Chat {
  readonly id: string;
  readonly assistantId: string;
  readonly channel: Channel;
  readonly status: ChatStatus;
  /** Made anew at each change of the status, and sorts among the ids of the chat's messages. */
  readonly statusEventId: string;
  readonly label: string;
  readonly phoneNumber: string | null;
  readonly userId: string | null;
  readonly uniqueId: string | null;
  readonly variables: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
  readonly recordingUrl: string | null;
  readonly messageCount: number;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly endedReason: string | null;
}

export interface ChatFilter {
  readonly channel?: Channel | null;
  readonly status?: string | null;
  readonly startedAfter?: Date | null;
  readonly startedBefore?: Date | null;
}

/** A chat as it is stored. */
export type ChatRow = Omit<Chat, "label"> & {
  readonly label: string | null;
  readonly firstWords: string | null;
};

/** Spec gap: a log's label is the user's name or number, else the first words said. */
export const labelled = <R extends Pick<ChatRow, "label" | "phoneNumber" | "firstWords">>(
  row: R,
): R & { label: string } => ({
  ...row,
  label: row.label ?? row.phoneNumber ?? row.firstWords ?? "",
});

/** The chats of an organization, live and ended. */
export class Chats {
  constructor(private readonly scope: Scope) {}

  /** @throws CHAT_NOT_FOUND */
  async byId(id: string): Promise<Chat> {
    const [row] = (await this.scope.table("chats").where({ id })) as ChatRow[];
    return labelled(row ?? missing("Chat"));
  }

  /** The chats with one assistant, the newest first. */
  async ofAssistant(
    assistantId: string,
    query: ConnectionQuery,
    filter: ChatFilter = {},
  ): Promise<Connection<Chat>> {
    const { channel, status, startedAfter, startedBefore } = filter;
    const rows = this.scope.table("chats").where({ assistantId });
    if (channel != null) rows.where({ channel });
    if (status != null) rows.where({ status });
    if (startedAfter != null) rows.where("startedAt", ">", startedAfter);
    if (startedBefore != null) rows.where("startedAt", "<", startedBefore);
    const { nodes, edges, pageInfo } = await connection<ChatRow>(rows, query);
    return {
      nodes: nodes.map(labelled),
      edges: edges.map(({ cursor, node }) => ({ cursor, node: labelled(node) })),
      pageInfo,
    };
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

  /** Ends every live chat of an assistant. */
  async endAll(assistantId: string, reason: string): Promise<void> {
    await this.endWhere({ assistantId }, reason);
  }

  private async endWhere(
    condition: { id: string } | { assistantId: string },
    endedReason: string,
  ): Promise<ChatRow[]> {
    const rows = (await this.scope
      .table("chats")
      .where(condition)
      .whereNot({ status: "ended" })
      .update({ status: "ended", statusEventId: newId(), endedAt: new Date(), endedReason })
      .returning("*")) as ChatRow[];
    for (const { id } of rows) await this.scope.notify(CHATS_CHANNEL, { chatId: id });
    return rows;
  }
}
