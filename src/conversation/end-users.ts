import { createHmac } from "node:crypto";
import { currentDate } from "../clock";
import { randomText, sameText } from "../auth/crypto";
import type { ChatRow, Visited } from "../chats/chats";
import { newId } from "../database/ids";
import type { Scope } from "../database/scope";
import { DomainError } from "../errors";

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
  readonly facts: readonly Omit<EndUserFact, "assistantId">[];
  /** The end of the last conversation. */
  readonly context: string | null;
  /** Whose conversation on a page that was. */
  readonly contextVisitorId: string | null;
}

/** A chat with a person who is remembered. */
type ChatOfPerson = Pick<ChatRow, "id" | "assistantId" | keyof Visited> & { readonly uniqueId: string };

function personOf(uniqueId: string, rows: readonly MemoryRow[]): EndUser | undefined {
  const facts = rows.flatMap(({ assistantId, facts }) => facts.map((fact) => ({ ...fact, assistantId })));
  return rows[0] && { id: rows[0].id, uniqueId, facts };
}

const MOST_FACTS = 50;
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
      const rows = (await people.orderBy("id")) as (MemoryRow & { readonly uniqueId: string })[];
      return uniqueIds.map((uniqueId) =>
        personOf(
          uniqueId,
          rows.filter((row) => row.uniqueId === uniqueId),
        ),
      );
    });
    return loader.load(uniqueId);
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
   * Facts and the last context, as the model of an assistant is told them in a chat. What was said is told only to the
   * person or to the browser that said it: whoever knows an id could ask for it.
   */
  async memory(assistantId: string, chat: ChatOfPerson): Promise<string> {
    const { uniqueId, identityProven, visitorId } = chat;
    const [user] = (await this.scope.table("end_users").where({ assistantId, uniqueId })) as MemoryRow[];
    if (!user) return "";
    const facts = user.facts.map(({ text }) => `- ${text}`);
    const context = identityProven || user.contextVisitorId === visitorId ? user.context : null;
    return [...facts, ...(context ? [`The last conversation ended so:\n${context}`] : [])].join("\n");
  }

  /** Adds a fact; the oldest make room. */
  async remember(assistantId: string, uniqueId: string, text: string): Promise<void> {
    const fact = text.trim().slice(0, FACT_LENGTH);
    if (fact === "") return;
    await this.change(assistantId, uniqueId, ({ facts }) => {
      const others = facts.filter((known) => known.text !== fact);
      return {
        facts: [...others, { text: fact, createdAt: currentDate().toISOString() }].slice(-MOST_FACTS),
      };
    });
  }

  /** Keeps how a chat ended, for the next one with the same assistant. */
  async keepEnd({ assistantId, uniqueId, id: chatId, visitorId }: ChatOfPerson): Promise<void> {
    const said = (await this.scope
      .table("messages")
      .select("role", "content")
      .where({ chatId })
      .whereIn("role", ["USER", "ASSISTANT"])
      .whereNotNull("content")
      .orderBy("sequence", "desc")
      .limit(END_MESSAGES)) as { role: string; content: string }[];
    if (said.length === 0) return;
    const lines = said
      .reverse()
      .map(({ role, content }) => `${role === "USER" ? "Person" : "Assistant"}: ${content}`);
    const context = lines.map((line) => line.slice(0, FACT_LENGTH).toWellFormed()).join("\n");
    await this.change(assistantId, uniqueId, () => ({ context, contextVisitorId: visitorId }));
  }

  /** Erases what is remembered under an id, and its chats' link to the person. @returns what was erased */
  async forget(uniqueId: string): Promise<{ facts: number; contexts: number; chats: number }> {
    return this.scope.transaction(async (scope) => {
      const users = (await scope
        .table("end_users")
        .where({ uniqueId })
        .delete()
        .returning("*")) as MemoryRow[];
      const chats = await scope.table("chats").where({ uniqueId }).update({
        uniqueId: null,
        visitorId: null,
        userId: null,
        label: null,
        userName: null,
        anonymousId: null,
        externalId: null,
      });
      const facts = users.reduce((sum, user) => sum + user.facts.length, 0);
      return { facts, contexts: users.filter(({ context }) => context !== null).length, chats };
    });
  }

  /** The secret that signs ids, made when it is first asked for. */
  async identitySecret(): Promise<string> {
    const { organizationId: id, ports } = this.scope;
    const context = `${id}/identity`;
    const [row] = (await this.scope.shared("organizations").where({ id })) as {
      sealedIdentitySecret: string | null;
    }[];
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
    const [row] = (await this.scope.shared("organizations").where({ id })) as {
      requireSignedIdentity: boolean;
    }[];
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
    uniqueId: string,
    changes: (user: MemoryRow) => Partial<Pick<MemoryRow, "facts" | "context" | "contextVisitorId">>,
  ): Promise<void> {
    await this.scope.transaction(async (scope) => {
      await scope.of(EndUsers).meet(assistantId, uniqueId);
      const [user] = (await scope
        .table("end_users")
        .where({ assistantId, uniqueId })
        .forUpdate()) as MemoryRow[];
      const { facts, ...rest } = changes(user!);
      const update = { ...rest, ...(facts && { facts: JSON.stringify(facts) }), updatedAt: currentDate() };
      await scope.table("end_users").where({ assistantId, uniqueId }).update(update);
    });
  }
}
