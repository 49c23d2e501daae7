import { createHmac } from "node:crypto";
import { currentDate } from "../../platform/clock";
import { randomText, sameText } from "../../platform/crypto";
import type { ChatRow, VisitorColumns } from "./chats";
import {
  connectionByAge,
  withNodes,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { newId } from "../../platform/database/values/ids";
import { rowById } from "../../platform/database/lists/row-by-id";
import { encoded } from "../../platform/database/values/encoded";
import { indexable } from "../../platform/database/values/long-texts";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import type { Fact } from "../../platform/database/tables/value-types";
import { factsFor, markFacts, withFact } from "./facts";

export interface EndUserFact {
  readonly text: string;
  /** The assistant that remembers the fact. */
  readonly assistantId: string;
  /** Whether the organization had proven the person's identity; null in facts of older versions. */
  readonly signed: boolean | null;
  readonly createdAt: string;
}
/** A person that assistants remember. */
export interface EndUser {
  readonly id: string;
  readonly uniqueId: string;
  readonly facts: readonly EndUserFact[];
}

/** The memory of one assistant about a person. */
interface MemoryRow {
  readonly id: string;
  readonly assistantId: string;
  readonly facts: readonly Fact[];
  /** The end of the last unsigned conversation on a web page, with its visitor. */
  readonly context: string | null;
  readonly contextVisitorId: string | null;
  readonly contextChatId: string | null;
  /** The end of the last conversation with an identity proven by the organization, with its visitor. */
  readonly signedContext: string | null;
  readonly signedContextVisitorId: string | null;
  readonly signedContextChatId: string | null;
}

/** A chat with a person that has a `uniqueId`. */
export type EndUserChat = Pick<ChatRow, "id" | "assistantId" | keyof VisitorColumns> & {
  readonly uniqueId: string;
};

/** The end of the last conversation, if the chat may mention it. */
function contextFor(user: MemoryRow, { identityProven, visitorId }: EndUserChat): string | null {
  // Stored by an older version, which did not distinguish signed chats, for a chat outside of web pages.
  const own = user.contextVisitorId === null ? user.context : null;
  if (identityProven) return user.signedContext ?? own;
  if (visitorId === null) return null;
  if (user.contextVisitorId === visitorId) return user.context;
  return user.signedContextVisitorId === visitorId ? user.signedContext : null;
}

function personOf(uniqueId: string, rows: readonly MemoryRow[]): EndUser | undefined {
  const facts = rows
    .flatMap(({ assistantId, facts }) =>
      facts.map(({ signed = null, ...fact }) => ({ ...fact, signed, assistantId })),
    )
    .sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  return rows[0] && { id: rows[0].id, uniqueId, facts };
}

const MAX_FACT_LENGTH = 300;
/** Messages at the end of a chat that are remembered. */
const CONTEXT_MESSAGES = 6;

/** The memory of assistants about people. */
export class EndUsers {
  constructor(private readonly scope: Scope) {}

  /** A person with the facts of all assistants; undefined if unknown. Calls in the same tick share one statement. */
  find(uniqueId: string): Promise<EndUser | undefined> {
    const loader = this.scope.loader<EndUser | undefined>("end_users", async (uniqueIds) => {
      const endUsers = this.scope.table("end_users").whereIn("uniqueId", uniqueIds);
      const rows = await endUsers.orderBy("id");
      return uniqueIds.map((uniqueId) =>
        personOf(
          uniqueId,
          rows.filter((row) => row.uniqueId === uniqueId),
        ),
      );
    });
    return loader.load(indexable(uniqueId));
  }

  /** All people, by the time when an assistant first met them. */
  async list(query: ConnectionQuery): Promise<Connection<EndUser>> {
    // The id of a person is that of its first row.
    const rows = this.scope.table("end_users").whereRaw(
      `not exists (select from end_users as other where other.organization_id = end_users.organization_id
        and other.unique_id = end_users.unique_id and other.id < end_users.id)`,
    );
    const page = await connectionByAge({ rows, map: (row) => row }, query);
    const people = await Promise.all(page.nodes.map(({ uniqueId }) => this.find(uniqueId)));
    const nodes = page.nodes.map(({ id, uniqueId }, index) => people[index] ?? { id, uniqueId, facts: [] });
    return withNodes(page, nodes);
  }

  /** The person with an id; undefined if unknown. Calls in the same tick share their statements. */
  async byId(id: string): Promise<EndUser | undefined> {
    const row = await rowById(this.scope, "end_users", id);
    const person = row && (await this.find(row.uniqueId));
    return person?.id === id ? person : undefined;
  }

  /** Stores that a person has talked with an assistant. */
  async register(assistantId: string, uniqueId: string): Promise<void> {
    const row = { id: newId(), assistantId, uniqueId };
    await this.scope
      .insert("end_users", row)
      .onConflict(["organizationId", "assistantId", "uniqueId"])
      .ignore();
  }

  /**
   * Facts about the person and the end of the last conversation, as text for the model. Signed and unsigned
   * conversations do not share facts, because anyone who knows an id can start an unsigned one. The end of an unsigned
   * conversation is used only for the same browser.
   */
  async memory(assistantId: string, chat: EndUserChat): Promise<string> {
    const { uniqueId } = chat;
    const [user] = await this.scope.table("end_users").where({ assistantId, uniqueId });
    if (!user) return "";
    const known = markFacts(user.facts, await this.signedBefore(user.facts, chat));
    const facts = factsFor(known, chat.identityProven).map(({ text }) => `- ${text}`);
    const context = contextFor(user, chat);
    return [...facts, ...(context ? [`The last conversation ended so:\n${context}`] : [])].join("\n");
  }

  /** Adds a fact from a chat unless the chat was deleted meanwhile. Replaces the oldest facts beyond the limit. */
  async remember(assistantId: string, chat: EndUserChat, text: string): Promise<void> {
    const fact = text.trim().slice(0, MAX_FACT_LENGTH);
    if (fact === "") return;
    const signed = chat.identityProven;
    await this.scope.transaction(async (scope) => {
      const chats = scope.table("chats").select("id").where({ id: chat.id }).forKeyShare();
      if ((await chats).length === 0) return;
      await scope.of(EndUsers).change(assistantId, chat, ({ facts }) => ({
        facts: withFact(facts, { text: fact, createdAt: currentDate().toISOString(), signed }),
      }));
    });
  }

  /** Stores the end of a chat as context of the next one. A correction leaves that of a chat that has ended since. */
  async storeContext(chat: EndUserChat, isCorrection = false): Promise<void> {
    const { assistantId, id: chatId, visitorId, identityProven } = chat;
    // Without a proven identity or a browser, no later chat could use it.
    if (!identityProven && visitorId === null) return;
    const messages = await this.scope
      .table("messages")
      .select("role", "content")
      .where({ chatId })
      .whereIn("role", ["USER", "ASSISTANT"])
      .whereNotNull("content")
      .orderBy("sequence", "desc")
      .limit(CONTEXT_MESSAGES);
    if (messages.length === 0) return;
    const lines = messages
      .reverse()
      .map(({ role, content }) => `${role === "USER" ? "Person" : "Assistant"}: ${content}`);
    const context = lines.map((line) => line.slice(0, MAX_FACT_LENGTH).toWellFormed()).join("\n");
    await this.change(assistantId, chat, ({ signedContextChatId, contextChatId }) => {
      const last = identityProven ? signedContextChatId : contextChatId;
      if (isCorrection && last !== null && last !== chatId) return {};
      return identityProven
        ? { signedContext: context, signedContextVisitorId: visitorId, signedContextChatId: chatId }
        : { context, contextVisitorId: visitorId, contextChatId: chatId };
    });
  }

  /** The secret for signing ids; generated on first use. */
  async identitySecret(): Promise<string> {
    const { organizationId: id, ports } = this.scope;
    const context = `${id}/identity`;
    const [row] = await this.scope.shared("organizations").where({ id });
    if (row?.sealedIdentitySecret) return ports.crypto.open(row.sealedIdentitySecret, context);
    const secret = randomText(24);
    const sealedIdentitySecret = ports.crypto.seal(secret, context);
    await this.scope
      .shared("organizations")
      .where({ id })
      .whereNull("sealedIdentitySecret")
      .update({ sealedIdentitySecret });
    return this.identitySecret();
  }

  /** @throws FORBIDDEN if the signature is wrong, or missing although the organization requires one */
  async checkIdentity(uniqueId: string, signature: string | null | undefined): Promise<void> {
    const { organizationId: id } = this.scope;
    const [row] = await this.scope.shared("organizations").where({ id });
    if (!row?.requireSignedIdentity && signature == null) return;
    const expected = createHmac("sha256", await this.identitySecret())
      .update(uniqueId)
      .digest("hex");
    if (signature == null)
      throw new DomainError(
        "FORBIDDEN",
        "The uniqueId must be signed: send uniqueIdSignature, its HMAC-SHA-256 with the organization's identity secret, in hexadecimal.",
      );
    if (!sameText(expected, signature.toLowerCase()))
      throw new DomainError(
        "FORBIDDEN",
        "uniqueIdSignature does not match uniqueId: it must be the HMAC-SHA-256 of uniqueId with the organization's identity secret, in hexadecimal.",
      );
  }

  private async change(
    assistantId: string,
    chat: EndUserChat,
    changes: (user: MemoryRow) => Partial<Omit<MemoryRow, "id" | "assistantId">>,
  ): Promise<void> {
    const { uniqueId } = chat;
    await this.scope.transaction(async (scope) => {
      const endUsers = scope.of(EndUsers);
      await endUsers.register(assistantId, uniqueId);
      const row = () => scope.table("end_users").where({ assistantId, uniqueId });
      const [stored] = await row().forUpdate();
      const user = stored!; // registered above
      const facts = markFacts(user.facts, await endUsers.signedBefore(user.facts, chat));
      const update = { facts, ...changes({ ...user, facts }), updatedAt: currentDate() };
      await row().update(encoded(update));
    });
  }

  /**
   * Whether facts without a `signed` flag come from signed conversations: true or false if all earlier conversations
   * agree, else undefined.
   */
  private async signedBefore(
    facts: readonly Fact[],
    { uniqueId, id }: EndUserChat,
  ): Promise<boolean | undefined> {
    if (facts.every(({ signed }) => signed !== undefined)) return undefined;
    const before = this.scope.table("chats").where({ uniqueId }).where("id", "<", id);
    const kinds = await before.distinct("identityProven");
    return kinds.length === 1 ? kinds[0]!.identityProven : undefined;
  }
}
