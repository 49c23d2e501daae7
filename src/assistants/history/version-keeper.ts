import { currentDate } from "../../platform/clock";
import type { AuditedStatement } from "../../platform/database/audited-statement";
import type { Scope } from "../../platform/database/scope";
import { sqlOf, Statement, statement } from "../../platform/database/statement";
import { SPOKEN_KINDS, withoutSecrets } from "./function-secrets";
import { HIDDEN, wholeVersionParts } from "./kept-content";

/** The online step that is done when all servers make versions. */
export const KEEP_STEP = "keep_versions";

/** Ports of the services of this process that make versions. */
const keeping = new WeakSet<object>();

/** What a version of another service keeps. */
export interface KeptVersion {
  readonly number: number;
  readonly note?: string | null;
  /** As `AssistantVersion.actor`. */
  readonly actor: string;
  readonly createdAt: Date;
}

/** A document as it is stored now: its parts as JSON text, and the lists of functions as they are written. */
interface LiveDocument {
  /** Who makes the first version, as JSON. */
  readonly creator: string;
  readonly assistant: string;
  readonly voice: string;
  readonly sms: string;
  readonly chat: string;
  readonly theme: string;
  readonly voiceFunctions: string;
  readonly smsFunctions: string;
  readonly chatFunctions: string;
}

/** Makes versions of assistants. */
export class VersionKeeper {
  constructor(private readonly scope: Scope) {}

  /** Whether versions are made: not while a server of an older version is connected, which would make none. */
  async isKeeping(): Promise<boolean> {
    if (keeping.has(this.scope.ports)) return true;
    const steps = this.scope.shared("online_steps").where({ name: KEEP_STEP }).whereNotNull("doneAt");
    const isDone = (await steps.select("name")).length > 0;
    if (isDone) keeping.add(this.scope.ports); // it stays so: older versions no longer start
    return isDone;
  }

  /** Who makes a version now, as the statements take it. */
  author(note?: string | null): string {
    const { actor, keyId, userId } = this.scope.operation?.author ?? { actor: "SYSTEM" };
    return JSON.stringify({ actor, keyId, userId, note: note || null, at: currentDate() });
  }

  /**
   * Runs a change that stores a version in its statement. An assistant without versions first gets its first one.
   * @param values those of the statement without the last, whether to change an assistant without versions
   */
  async change<R>(
    assistantId: string,
    statement: AuditedStatement<R>,
    values: readonly unknown[],
  ): Promise<R[]> {
    const rows = await this.scope.change(statement, [...values, false]);
    if (rows.length > 0) return rows;
    await this.begin(assistantId);
    return this.scope.change(statement, [...values, true]);
  }

  /** Stores version 1 of an assistant that has none, as it is before a change. Its creator is the author. */
  async begin(assistantId: string): Promise<void> {
    if (!(await this.isKeeping())) return;
    if ((await this.scope.read(HEAD, [assistantId])).length > 0) return;
    // The audit entry of the operation belongs to the change.
    await this.scope.with({ operation: undefined }).transaction(async (scope) => {
      const keeper = scope.of(VersionKeeper);
      const live = await keeper.lock(assistantId);
      if (live) await keeper.store(assistantId, live, live.creator);
    });
  }

  /**
   * Stores a version if the assistant differs from its current one, or has none. Concurrent changes of the assistant
   * wait until the end of the transaction.
   * @param kept the version that the assistant is at another service, which is stored if its number is higher than the
   * current one
   */
  async record(assistantId: string, note?: string | null, kept?: KeptVersion): Promise<void> {
    if (!(await this.isKeeping())) return;
    await this.scope.transaction(async (scope) => {
      const keeper = scope.of(VersionKeeper);
      const live = await keeper.lock(assistantId);
      if (!live) return;
      const isAhead = kept && (await keeper.isAhead(assistantId, kept));
      if (isAhead) await keeper.store(assistantId, live, authorOf(kept), kept.number);
      else await keeper.store(assistantId, live, keeper.author(note));
    });
  }

  private async isAhead(assistantId: string, { number }: KeptVersion): Promise<boolean> {
    const later = this.scope.table("version_heads").where({ assistantId }).where("number", ">=", number);
    return (await later.select("number")).length === 0;
  }

  /** @param number of the version; null: the next one */
  private async store(
    assistantId: string,
    live: LiveDocument,
    author: string,
    number: number | null = null,
  ): Promise<void> {
    const files = await this.scope.read(FILE_IDS, [assistantId]);
    const { assistant, voice, sms, chat, theme } = live;
    const functions = SPOKEN_KINDS.map((kind) => withoutSecrets(kind, live[`${kind}Functions`]));
    const ids = JSON.stringify(files.map(({ fileId }) => fileId));
    const parts = [assistant, voice, sms, chat, theme];
    await this.scope.write(RECORD, [assistantId, author, ...parts, ...functions, ids, number]);
  }

  /** Locks the rows of an assistant in the order that all changes have. @returns undefined if there is none */
  async lock(assistantId: string): Promise<LiveDocument | undefined> {
    const [live] = await this.scope.write(LOCK, [assistantId]);
    return live;
  }
}

/** The author of a version of another service, as the statements take it. */
export function authorOf({ actor, note, createdAt }: KeptVersion): string {
  const [, kind, id] = /^(user|key):(.*)$/s.exec(actor) ?? [];
  const who = {
    actor: kind === "user" ? "TOKEN" : kind === "key" ? "SECRET" : actor.toUpperCase(),
    ...(kind === "key" && { keyId: id }),
    ...(kind === "user" && { userId: id }),
  };
  return JSON.stringify({ ...who, note: note ?? null, at: createdAt });
}

/** A lock of several tables is taken in the order of the tables. */
const LOCK = new Statement<LiveDocument>(({ db }) =>
  db.raw(`
  select coalesce(a.created_by, jsonb_build_object('actor', 'SYSTEM', 'at', a.created_at))::text as creator,
    jsonb_build_object('name', a.name, 'description', a.description, 'variables', a.variables)::text as assistant,
    (to_jsonb(v) - ${HIDDEN})::text as voice, (to_jsonb(s) - ${HIDDEN})::text as sms,
    (to_jsonb(c) - ${HIDDEN})::text as chat, (to_jsonb(t) - ${HIDDEN})::text as theme,
    v.functions::text as voice_functions, s.functions::text as sms_functions, c.functions::text as chat_functions
  from assistants a
  join voice_configurations v on v.organization_id = $1 and v.assistant_id = a.id
  join sms_configurations s on s.organization_id = $1 and s.assistant_id = a.id
  join chat_configurations c on c.organization_id = $1 and c.assistant_id = a.id
  join theme_configurations t on t.organization_id = $1 and t.assistant_id = a.id
  where a.organization_id = $1 and a.id = $2
  for no key update of a, v, s, c, t`),
);

const HEAD = statement<{ number: number }>(({ db }) =>
  db.raw(`
  select version_heads.number from version_heads
  where version_heads.organization_id = $1 and version_heads.assistant_id = $2`),
);

const FILE_IDS = statement<{ fileId: string }>(({ db }) =>
  db.raw(`
  select assistant_files.file_id from assistant_files
  where assistant_files.organization_id = $1 and assistant_files.assistant_id = $2
  order by assistant_files.file_id`),
);

/**
 * Parameters: id, author, the parts of the document, the lists of functions, the ids of the files, the number of the
 * version; without one, it is the next, if the document differs.
 */
const RECORD = new Statement<{ number: number }>((pieces) => {
  const { db, $ } = pieces;
  const part = (prefix: string, place: number) =>
    `select '${prefix}' || key, value from jsonb_each(${$(place).toQuery()}::jsonb)`;
  const functions = (kind: string, place: number) =>
    `select '${kind}.functions', to_jsonb(${$(place).toQuery()}::text)`;
  const values = [
    ...["", "voice.", "sms.", "chat.", "theme."].map((prefix, index) => part(prefix, index + 3)),
    ...SPOKEN_KINDS.map((kind, index) => functions(kind, index + 8)),
    `select 'fileIds', ${$(11).toQuery()}::jsonb`,
  ].join(" union all ");
  const made = wholeVersionParts(pieces, { id: $(1), values, author: $(2), number: $(12) });
  return db.raw(`with digested as (${sqlOf(made.digested)}), head as (${sqlOf(made.head)}), version as (${sqlOf(made.version)}),
    texts as (${sqlOf(made.texts)}) select number from head`);
});
