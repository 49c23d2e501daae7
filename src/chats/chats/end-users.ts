import { createHmac } from "node:crypto";
import { currentDate } from "../../platform/clock";
import { randomText, sameText } from "../../platform/crypto";
import type { ChatRow, Visited } from "./chats";
import { newId } from "../../platform/database/ids";
import { encoded } from "../../platform/database/encoded";
import { indexable } from "../../platform/database/long-texts";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { factsFor, marked, withFact, type Fact } from "./facts";

export interface EndUserFact {
  readonly text: string;
  /** The assistant that keeps it. */
  readonly assistantId: string;
  readonly createdAt: string;
}
/** A person whom assistants remember. */
export interface EndUser {
  readonly id: string;
  readonly uniqueId: string;
  readonly facts: readonly EndUserFact[];
}

/** What one assistant remembers of a person. */
interface MemoryRow {
  readonly id: string;
  readonly assistantId: string;
  readonly facts: readonly Fact[];
  /** The end of the last unsigned conversation on a page, and whose it was. */
  readonly context: string | null;
  readonly contextVisitorId: string | null;
  readonly contextChatId: string | null;
  /** The same of the last conversation that was signed, or the organization's own. */
  readonly signedContext: string | null;
  readonly signedContextVisitorId: string | null;
  readonly signedContextChatId: string | null;
}

/** A chat with a person who is remembered. */
export type ChatOfPerson = Pick<ChatRow, "id" | "assistantId" | keyof Visited> & {
  readonly uniqueId: string;
};

/** The end of the last conversation that may be told of in a chat. */
function contextFor(user: MemoryRow, { identityProven, visitorId }: ChatOfPerson): string | null {
  // Kept before signed and unsigned ones were told apart, of a chat that no page began.
  const own = user.contextVisitorId === null ? user.context : null;
  if (identityProven) return user.signedContext ?? own;
  if (visitorId === null) return null;
  if (user.contextVisitorId === visitorId) return user.context;
  return user.signedContextVisitorId === visitorId ? user.signedContext : null;
}

function personOf(uniqueId: string, rows: readonly MemoryRow[]): EndUser | undefined {
  const facts = rows.flatMap(({ assistantId, facts }) => facts.map((fact) => ({ ...fact, assistantId })));
  return rows[0] && { id: rows[0].id, uniqueId, facts };
}

const FACT_LENGTH = 300;
/** Messages of a chat's end that are kept. */
const END_MESSAGES = 6;

/** What assistants remember of the people they talk with. */
export class EndUsers {
  constructor(private readonly scope: Scope) {}

  /** What is remembered under an id, by all assistants, of many people by one statement; undefined where nobody has met the person. */
  find(uniqueId: string): Promise<EndUser | undefined> {
    const loader = this.scope.loader<EndUser | undefined>("end_users", async (uniqueIds) => {
      const people = this.scope.table("end_users").whereIn("uniqueId", uniqueIds);
      const rows = await people.orderBy("id");
      return uniqueIds.map((uniqueId) =>
        personOf(
          uniqueId,
          rows.filter((row) => row.uniqueId === uniqueId),
        ),
      );
    });
    return loader.load(indexable(uniqueId));
  }

  /** Makes the person known to an assistant. */
  async meet(assistantId: string, uniqueId: string): Promise<void> {
    const row = { id: newId(), assistantId, uniqueId };
    await this.scope
      .insert("end_users", row)
      .onConflict(["organizationId", "assistantId", "uniqueId"])
      .ignore();
  }

  /**
   * Facts and the last context, as the model of an assistant is told them in a chat. Facts of signed and of unsigned
   * conversations stay apart, as whoever knows an id could have said the latter. What was said unsigned is told only to
   * the browser that said it.
   */
  async memory(assistantId: string, chat: ChatOfPerson): Promise<string> {
    const { uniqueId } = chat;
    const [user] = await this.scope.table("end_users").where({ assistantId, uniqueId });
    if (!user) return "";
    const known = marked(user.facts, await this.signedBefore(user.facts, chat));
    const facts = factsFor(known, chat.identityProven).map(({ text }) => `- ${text}`);
    const context = contextFor(user, chat);
    return [...facts, ...(context ? [`The last conversation ended so:\n${context}`] : [])].join("\n");
  }

  /** Adds a fact that was said in a chat, unless that was removed meanwhile; the oldest of its kind make room. */
  async remember(assistantId: string, chat: ChatOfPerson, text: string): Promise<void> {
    const fact = text.trim().slice(0, FACT_LENGTH);
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

  /** Keeps how a chat ended, for the next one with the same assistant. */
  async keepEnd(chat: ChatOfPerson): Promise<void> {
    const { assistantId, id: chatId, visitorId, identityProven } = chat;
    // Nobody could prove to have said it.
    if (!identityProven && visitorId === null) return;
    const said = await this.scope
      .table("messages")
      .select("role", "content")
      .where({ chatId })
      .whereIn("role", ["USER", "ASSISTANT"])
      .whereNotNull("content")
      .orderBy("sequence", "desc")
      .limit(END_MESSAGES);
    if (said.length === 0) return;
    const lines = said
      .reverse()
      .map(({ role, content }) => `${role === "USER" ? "Person" : "Assistant"}: ${content}`);
    const context = lines.map((line) => line.slice(0, FACT_LENGTH).toWellFormed()).join("\n");
    await this.change(assistantId, chat, () =>
      identityProven
        ? { signedContext: context, signedContextVisitorId: visitorId, signedContextChatId: chatId }
        : { context, contextVisitorId: visitorId, contextChatId: chatId },
    );
  }

  /** The secret that signs ids, made when it is first asked for. */
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

  /** @throws FORBIDDEN where the organization wants signed ids and this one is not signed by it */
  async checkIdentity(uniqueId: string, signature: string | null | undefined): Promise<void> {
    const { organizationId: id } = this.scope;
    const [row] = await this.scope.shared("organizations").where({ id });
    if (!row?.requireSignedIdentity && signature == null) return;
    const expected = createHmac("sha256", await this.identitySecret())
      .update(uniqueId)
      .digest("hex");
    if (signature == null || !sameText(expected, signature.toLowerCase()))
      throw new DomainError(
        "FORBIDDEN",
        "uniqueId must be signed: uniqueIdSignature is the hexadecimal HMAC with SHA-256 of it under the organization's identity secret.",
      );
  }

  private async change(
    assistantId: string,
    chat: ChatOfPerson,
    changes: (user: MemoryRow) => Partial<Omit<MemoryRow, "id" | "assistantId">>,
  ): Promise<void> {
    const { uniqueId } = chat;
    await this.scope.transaction(async (scope) => {
      const people = scope.of(EndUsers);
      await people.meet(assistantId, uniqueId);
      const row = () => scope.table("end_users").where({ assistantId, uniqueId });
      const [met] = await row().forUpdate();
      const user = met!; // stored above
      const facts = marked(user.facts, await people.signedBefore(user.facts, chat));
      const update = { facts, ...changes({ ...user, facts }), updatedAt: currentDate() };
      await row().update(encoded(update));
    });
  }

  /**
   * Whether facts that were kept without saying so come from signed conversations: as all conversations before this one
   * were, or none was; undefined where it cannot be told.
   */
  private async signedBefore(
    facts: readonly Fact[],
    { uniqueId, id }: ChatOfPerson,
  ): Promise<boolean | undefined> {
    if (facts.every(({ signed }) => signed !== undefined)) return undefined;
    const before = this.scope.table("chats").where({ uniqueId }).where("id", "<", id);
    const kinds = await before.distinct("identityProven");
    return kinds.length === 1 ? kinds[0]!.identityProven : undefined;
  }
}
