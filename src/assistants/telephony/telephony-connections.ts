import { connectionByAge } from "../../platform/database/lists/connection";
import type { Connection, ConnectionQuery } from "../../platform/database/lists/connection";
import { currentDate } from "../../platform/clock";
import { Assistants, type Assistant } from "../assistants/assistants";
import { newId } from "../../platform/database/values/ids";
import { OLDEST_FIRST } from "../../platform/database/lists/order";
import type { Rows } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { DomainError, failAt, invalid, missing } from "../../platform/errors";
import type { TelephonyLine } from "../../platform/ports/telephony";
import {
  CONNECTION_BY_ID,
  mergeLine,
  rejectDuplicate,
  sharedRow,
  toConnection,
  type ConnectionRow,
  type TelephonyConnection,
  type UpdateTelephonyConnectionInput,
} from "./connection-row";
import { removeTextsLater } from "./remove-texts";

export interface ConnectTelephonyInput {
  readonly phoneNumber: string;
  readonly accountSid: string;
  readonly authToken: string;
  readonly messagingServiceSid?: string | null;
  /** Assistants that answer texts; the first one is the default. */
  readonly assistantIds?: readonly string[] | null;
}

/** For all requests of a check together. */
const CHECK_TIMEOUT_MS = 8_000;

/** The phone numbers of an organization at a telephony provider. Stored tokens are never shown. */
export class TelephonyConnections {
  constructor(private readonly scope: Scope) {}

  /** Oldest first. */
  async list(): Promise<TelephonyConnection[]> {
    const rows = await this.scope.table("telephony_connections").orderBy(OLDEST_FIRST);
    return rows.map((row) => this.present(row));
  }

  /** The same by creation, as a connection. */
  async connection(query: ConnectionQuery): Promise<Connection<TelephonyConnection>> {
    const rows = this.scope.table("telephony_connections");
    return connectionByAge({ rows, map: (row) => this.present(row) }, query);
  }

  /** @throws TELEPHONY_CONNECTION_NOT_FOUND */
  async byId(id: string): Promise<TelephonyConnection> {
    return (await this.find(id)) ?? missing("TelephonyConnection", id);
  }

  /** Calls in the same tick share one statement. @returns undefined if it does not exist */
  async find(id: string): Promise<TelephonyConnection | undefined> {
    const row = await sharedRow(this.scope, id);
    return row && this.present(row);
  }

  /**
   * Connects a number, after the provider has confirmed account, token, number and messaging service.
   * @throws BAD_USER_INPUT that names the wrong value; CONFLICT if the number is already connected; UNAVAILABLE if the
   * provider does not answer; ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY
   */
  async connect(input: ConnectTelephonyInput): Promise<TelephonyConnection> {
    const { assistantIds, messagingServiceSid, ...account } = input;
    const line = { ...account, ...(messagingServiceSid != null && { messagingServiceSid }) };
    await this.checkAssistants(assistantIds ?? []);
    await this.check(line);
    const id = newId();
    await this.scope
      .transaction(async (scope) => {
        const { organizationId } = scope;
        const own = scope.of(TelephonyConnections);
        const { phoneNumber, accountSid, authToken } = line;
        await scope.insert("telephony_connections", {
          id,
          phoneNumber,
          accountSid,
          sealedToken: own.seal(id, authToken),
          messagingServiceSid: messagingServiceSid ?? undefined,
        });
        await scope.shared("telephony_lookup").insert({ phoneNumber, organizationId, connectionId: id });
        await own.setAssistants(id, assistantIds ?? []);
      })
      .catch(rejectDuplicate);
    return this.byId(id);
  }

  /**
   * Changes account or assistants. Checks a changed account with the provider first.
   * @throws TELEPHONY_CONNECTION_NOT_FOUND, and as `connect`
   */
  async update(id: string, input: UpdateTelephonyConnectionInput): Promise<TelephonyConnection> {
    const row = (await this.row(id)) ?? missing("TelephonyConnection", id);
    const { assistantIds, ...changes } = input;
    if (assistantIds) await this.checkAssistants(assistantIds);
    const line = mergeLine(this.line(row), changes);
    if (Object.keys(changes).length > 0) await this.check(line);
    await this.scope.transaction(async (scope) => {
      const own = scope.of(TelephonyConnections);
      const changed = await scope
        .table("telephony_connections")
        .where({ id })
        .update({
          accountSid: line.accountSid,
          sealedToken: own.seal(id, line.authToken),
          messagingServiceSid: line.messagingServiceSid ?? null,
          updatedAt: currentDate(),
        });
      if (changed === 0) missing("TelephonyConnection", id);
      if (assistantIds) await own.setAssistants(id, assistantIds);
    });
    return this.byId(id);
  }

  /**
   * Deletes a number and its token. Its SMS chats stay, but send no more texts.
   * @throws TELEPHONY_CONNECTION_NOT_FOUND
   */
  async disconnect(id: string): Promise<{ id: string }> {
    await this.scope.transaction(async (scope) => {
      const { organizationId } = scope;
      // The foreign key does the same, but not in a Citus cluster.
      await scope.shared("telephony_lookup").where({ organizationId, connectionId: id }).delete();
      const removed = await scope.table("telephony_connections").where({ id }).delete();
      if (removed === 0) missing("TelephonyConnection", id);
      await removeTextsLater(scope, id);
    });
    return { id };
  }

  /** The assistants that answer texts to a number, the default first, without deleted ones. */
  async assistants(connectionId: string): Promise<Assistant[]> {
    const loader = this.scope.loader<Assistant[]>("telephony.assistants", async (ids) => {
      const members = this.scope
        .table("telephony_assistants")
        .whereIn("connectionId", ids)
        .whereNull("assistants.deletedAt")
        .select<Pick<Rows["telephony_assistants"], "connectionId" | "assistantId">[]>(
          "telephony_assistants.connectionId",
          "telephony_assistants.assistantId",
        )
        .orderBy("telephony_assistants.position");
      const rows = await this.scope.join(
        members,
        "assistants",
        "telephony_assistants.assistantId",
        "assistants.id",
      );
      const own = this.scope.of(Assistants);
      const found = await Promise.all(
        rows.map(async (row) => ({ ...row, assistant: await own.byIdIncludingDeleted(row.assistantId) })),
      );
      return ids.map((id) =>
        found.filter((row) => row.connectionId === id).map(({ assistant }) => assistant),
      );
    });
    return loader.load(connectionId);
  }

  /** A number with its token. Only for requests to the provider and the voice engine. */
  async lineOf(id: string): Promise<TelephonyLine | undefined> {
    const row = await this.row(id);
    return row && this.line(row);
  }

  /** The connection for outbound calls of an assistant: one of its own, else the oldest. */
  async forCalls(assistantId: string): Promise<TelephonyConnection | undefined> {
    const own = this.scope.table("telephony_assistants").where({ assistantId }).orderBy("connectionId");
    const [member] = await own.limit(1);
    const row = member
      ? await this.row(member.connectionId)
      : (await this.scope.table("telephony_connections").orderBy(OLDEST_FIRST).limit(1))[0];
    return row && this.present(row);
  }

  private async row(id: string): Promise<ConnectionRow | undefined> {
    const [row] = await this.scope.read(CONNECTION_BY_ID, [id]);
    return row;
  }

  private async check(line: TelephonyLine): Promise<void> {
    const { provider } = this.scope.ports.telephone;
    const malformed = provider.malformed(line);
    if (malformed.length > 0) throw invalid(malformed);
    const problem = await provider.check(line, AbortSignal.timeout(CHECK_TIMEOUT_MS)).catch(() => {
      // The original error may contain the token.
      throw new DomainError("UNAVAILABLE", "The telephony provider did not answer. Try again.");
    });
    if (problem) throw invalid([problem]);
  }

  private async checkAssistants(ids: readonly string[]): Promise<void> {
    if (new Set(ids).size < ids.length)
      throw invalid([{ path: "assistantIds", message: "must not name an assistant twice" }]);
    for (const [index, id] of ids.entries())
      await this.checkAssistant(id).catch((error) => failAt(`assistantIds.${index}`, error));
  }

  private async checkAssistant(id: string): Promise<void> {
    const { template } = await this.scope.of(Assistants).byId(id);
    if (template)
      throw new DomainError(
        "TEMPLATE_READ_ONLY",
        "This assistant is a template. Duplicate it, then connect the copy.",
      );
  }

  private async setAssistants(connectionId: string, ids: readonly string[]): Promise<void> {
    await this.scope.table("telephony_assistants").where({ connectionId }).delete();
    await this.scope.insertAll(
      "telephony_assistants",
      ids.map((assistantId, position) => ({ connectionId, assistantId, position })),
    );
    this.scope.forget();
  }

  private line({ id, phoneNumber, accountSid, sealedToken, messagingServiceSid }: ConnectionRow) {
    const authToken = this.scope.ports.crypto.open(sealedToken, this.context(id));
    const service = messagingServiceSid === null ? {} : { messagingServiceSid };
    return { phoneNumber, accountSid, authToken, ...service } satisfies TelephonyLine;
  }

  private present(row: ConnectionRow): TelephonyConnection {
    const { telephone } = this.scope.ports;
    return toConnection(row, this.line(row).authToken, telephone.interceptUrl());
  }

  private seal(id: string, authToken: string): string {
    return this.scope.ports.crypto.seal(authToken, this.context(id));
  }

  private context(id: string): string {
    return `${this.scope.organizationId}/telephony_connections/${id}`;
  }
}
