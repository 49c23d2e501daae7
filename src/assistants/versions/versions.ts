import {
  connectionBy,
  CURSORS,
  spanOf,
  unknownCursor,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { BOUNDS, inBothOrders } from "../../platform/database/lists/order";
import { countPerId, perId, readCounts, readPerId } from "../../platform/database/lists/per-id";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { missing } from "../../platform/errors";
import { Assistants, type Assistant, type AssistantInput } from "../assistants/assistants";
import { VersionKeeper } from "../history/version-keeper";
import { differences, type DocumentChange } from "./differences";
import { documentOf, type Document, type DocumentValues } from "./document";
import { liveValues } from "./live-values";
import { readContents } from "./contents";
import { lockDocument, warnOfNoChange, writeDocument } from "./write-document";

export interface AssistantVersion {
  /** The assistant's id, a dot, and the number. */
  readonly id: string;
  readonly assistantId: string;
  /** From 1. */
  readonly number: number;
  readonly note: string | null;
  /** Who made it: `user:ID`, `key:ID`, or the kind of actor, such as `operator` or `system`. */
  readonly actor: string;
  readonly createdAt: Date;
}

/** An assistant after a change, with the version that it then had: others may have published since. */
export interface ChangedAssistant extends Assistant {
  readonly version: AssistantVersion;
}

interface VersionRow extends Omit<AssistantVersion, "id"> {
  readonly keyId: string | null;
  readonly userId: string | null;
}

type Owner = Pick<Assistant, "id" | "template" | "createdAt">;

const COLUMNS = "assistant_id, number, note, actor, key_id, user_id, created_at";

const OF_ASSISTANTS = inBothOrders((order) =>
  perId<VersionRow, "after" | "before">(
    ({ table, narrowed }) =>
      narrowed(
        table("assistant_versions")
          .select("assistantId", "number", "note", "actor", "keyId", "userId", "createdAt")
          // Not "=": PostgreSQL then expects few versions, and sorts all of an assistant instead of reading the first ones.
          .whereRaw("assistant_id between wanted.id and wanted.id"),
      ).orderBy(["assistantId", "number"].map((column) => ({ column, order }))),
    {
      conditions: {
        after: (rows, value) => rows.whereRaw(`number ${BOUNDS[order].after} ?::integer`, [value]),
        before: (rows, value) => rows.whereRaw(`number ${BOUNDS[order].before} ?::integer`, [value]),
      },
    },
  ),
);
const COUNT = countPerId("assistantId", ({ table }) => table("assistant_versions"));

const BY_NUMBER = statement<VersionRow>(({ db }) =>
  db.raw(`
  select ${COLUMNS} from assistant_versions
  where assistant_versions.organization_id = $1 and (assistant_id, number) in (
    select one.assistant_id, one.number from unnest($2::text[], $3::integer[]) as one (assistant_id, number))`),
);

/** The current versions; those of assistants without stored versions as they will be stored. */
const CURRENT = statement<VersionRow>(({ db }) =>
  db.raw(`
  select a.id as assistant_id, v.number, v.note, v.actor, v.key_id, v.user_id, v.created_at
  from assistants a join version_heads h on h.organization_id = $1 and h.assistant_id = a.id
  cross join lateral ( -- with an offset, so that its number is known before versions are read
    select * from assistant_versions v
    where v.organization_id = $1 and v.assistant_id = h.assistant_id and v.number = h.number offset 0) v
  where a.organization_id = $1 and a.id = any($2::text[])
  union all
  select a.id, 1, null, coalesce(a.created_by->>'actor', 'SYSTEM'), a.created_by->>'keyId', a.created_by->>'userId',
    coalesce((a.created_by->>'at')::timestamptz, a.created_at)
  from assistants a where a.organization_id = $1 and a.id = any($2::text[]) and not exists (
    select from version_heads h where h.organization_id = $1 and h.assistant_id = a.id)`),
);

/** The versions of assistants. A template, and an assistant that nobody has changed, is its own version 1. */
export class Versions {
  constructor(private readonly scope: Scope) {}

  /** The version that answers now. Calls in the same tick share one statement. */
  async current(owner: Owner): Promise<AssistantVersion> {
    if (owner.template) return ofTemplate(owner);
    const loader = this.scope.loader<VersionRow | undefined>("versions.current", async (ids) => {
      const rows = await this.scope.read(CURRENT, [ids]);
      return ids.map((id) => rows.find(({ assistantId }) => assistantId === id));
    });
    return toVersion((await loader.load(owner.id)) ?? missing("Assistant", owner.id));
  }

  /** An assistant at the end of a transaction that has locked it. @throws ASSISTANT_NOT_FOUND */
  async changed(assistantId: string): Promise<ChangedAssistant> {
    const assistant = await this.scope.of(Assistants).byId(assistantId);
    return { version: await this.current(assistant), ...assistant };
  }

  /** As `Assistants.update`, with the version that the assistant then has. */
  async update(id: string, input: Partial<AssistantInput>): Promise<ChangedAssistant> {
    return this.scope.transaction(async (scope) => {
      await scope.of(Assistants).update(id, input);
      return scope.of(Versions).changed(id);
    });
  }

  /** @throws ASSISTANT_NOT_FOUND, VERSION_NOT_FOUND */
  async byNumber(assistantId: string, number: number): Promise<AssistantVersion> {
    await this.scope.of(Assistants).byId(assistantId);
    return (await this.find(assistantId, number)) ?? missing("Version", String(number));
  }

  /** A version, even of a deleted assistant. @throws ASSISTANT_NOT_FOUND */
  async find(assistantId: string, number: number): Promise<AssistantVersion | undefined> {
    const owner = await this.scope.of(Assistants).byIdOrTemplate(assistantId);
    const loader = this.scope.loader<VersionRow | undefined>("versions.byNumber", async (ids) => {
      const keys = ids.map(keyOf);
      const values = [keys.map(({ assistantId }) => assistantId), keys.map(({ number }) => number)];
      const rows = await this.scope.read(BY_NUMBER, values);
      return ids.map((id) => rows.find((row) => idOf(row) === id));
    });
    const row = owner.template ? undefined : await loader.load(idOf({ assistantId, number }));
    if (row) return toVersion(row);
    const current = number === 1 ? await this.current(owner) : undefined;
    return current?.number === 1 ? current : undefined;
  }

  /** Newest first by default. @throws BAD_USER_INPUT for a cursor of another list */
  async list(owner: Owner, query: ConnectionQuery): Promise<Connection<AssistantVersion>> {
    const { scope } = this;
    const { take, order, after, before } = spanOf(query);
    for (const name of CURSORS) checkCursor(query[name], name, owner.id);
    const filter = { after: numberOf(after), before: numberOf(before) };
    const page = scope.loader<VersionRow[]>(`versions.${JSON.stringify([take, order, filter])}`, (ids) =>
      readPerId(scope, OF_ASSISTANTS[order], ids, { take: take + 1 }, filter),
    );
    const count = () =>
      scope.loader<number>("versions.count", (ids) => readCounts(scope, COUNT, ids)).load(owner.id);
    const stored = owner.template ? [] : (await page.load(owner.id)).map(toVersion);
    const isEmpty = stored.length === 0 && after === null && before === null;
    const found = isEmpty ? [await this.current(owner)] : stored;
    return connectionBy(found, query, idOf, async () => Math.max(1, owner.template ? 1 : await count()));
  }

  /** The document of a version. Calls in the same tick share their statements. */
  async document(version: Pick<AssistantVersion, "assistantId" | "number">): Promise<Document> {
    return documentOf(await this.values(version));
  }

  /** The changes from one version to another, as operations of a JSON Patch. @throws ASSISTANT_NOT_FOUND, VERSION_NOT_FOUND */
  async difference(assistantId: string, from: number, to: number): Promise<DocumentChange[]> {
    const [before, after] = await Promise.all([from, to].map((number) => this.byNumber(assistantId, number)));
    return differences(await this.document(before!), await this.document(after!));
  }

  /** Sets the note of a version; an empty one removes it. @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, VERSION_NOT_FOUND */
  async describe(assistantId: string, number: number, note: string): Promise<AssistantVersion> {
    return this.scope.transaction(async (scope) => {
      await scope.of(Assistants).checkOwn(assistantId);
      await scope.of(VersionKeeper).begin(assistantId);
      const rows = scope.table("assistant_versions").where({ assistantId, number });
      const changed = await rows.update({ note: note === "" ? null : note });
      if (changed === 0) missing("Version", String(number));
      return scope.of(Versions).byNumber(assistantId, number);
    });
  }

  /**
   * Makes a new version with the document of an earlier one; none if nothing differs. Secrets of functions stay as they are
   * now.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, VERSION_NOT_FOUND
   */
  async restore(assistantId: string, number: number, note?: string | null): Promise<ChangedAssistant> {
    return this.scope.transaction(async (scope) => {
      await lockDocument(scope, assistantId);
      const versions = scope.of(Versions);
      const values = await versions.values(await versions.byNumber(assistantId, number));
      const content = { values, note: note ?? `Restored version ${number}` };
      if (!(await writeDocument(scope, assistantId, content))) warnOfNoChange(scope);
      return scope.of(Versions).changed(assistantId);
    });
  }

  /** The values of a version. */
  async values(version: Pick<AssistantVersion, "assistantId" | "number">): Promise<DocumentValues> {
    const id = idOf(version);
    const read = (name: string) => {
      const loader = this.scope.loader<DocumentValues | undefined>(name, (ids) =>
        readContents(this.scope, ids.map(keyOf)),
      );
      return loader.load(id);
    };
    const stored = await read("versions.contents");
    if (stored) return stored;
    const live = await liveValues(this.scope, version.assistantId);
    return (await read("versions.storedMeanwhile")) ?? live; // a change stores the version before it
  }
}

const idOf = ({ assistantId, number }: Pick<AssistantVersion, "assistantId" | "number">) =>
  `${assistantId}.${number}`;

function keyOf(id: string): { assistantId: string; number: number } {
  const dot = id.lastIndexOf(".");
  return { assistantId: id.slice(0, dot), number: Number(id.slice(dot + 1)) };
}

const toVersion = ({ keyId, userId, actor, ...row }: VersionRow): AssistantVersion => ({
  ...row,
  id: idOf(row),
  actor: userId !== null ? `user:${userId}` : keyId !== null ? `key:${keyId}` : actor.toLowerCase(),
});

/** The only version of a template. */
const ofTemplate = ({ id, createdAt }: Owner): AssistantVersion => ({
  id: idOf({ assistantId: id, number: 1 }),
  assistantId: id,
  number: 1,
  note: null,
  actor: "system",
  createdAt,
});

/** Cursors are ids of versions. */
function checkCursor(
  cursor: string | null | undefined,
  name: (typeof CURSORS)[number],
  assistantId: string,
): void {
  if (cursor == null) return;
  const { assistantId: owner, number } = keyOf(cursor);
  if (owner !== assistantId || !isNumber(number)) unknownCursor(cursor, name);
}

const numberOf = (cursor: string | null) => (cursor === null ? null : String(keyOf(cursor).number));

/** The greatest integer of PostgreSQL. */
const MOST = 2_147_483_647;
const isNumber = (number: number): boolean => Number.isInteger(number) && number >= 1 && number <= MOST;
