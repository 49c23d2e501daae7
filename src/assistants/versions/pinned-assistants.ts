import type { Knex } from "knex";
import type { Scope } from "../../platform/database/scope";
import { statement, Statement } from "../../platform/database/statement";
import { failAt, invalid } from "../../platform/errors";
import { readStored } from "../../platform/json/json-source";
import { Assistants, type Assistant } from "../assistants/assistants";
import { COLUMNS as ASSISTANT_COLUMNS, type AssistantRow } from "../assistants/statements";
import { COLUMNS } from "../configurations/columns";
import {
  CONFIGURATIONS,
  Configurations,
  type ChannelConfiguration as Live,
  type Identified,
  type Kinds,
} from "../configurations/configurations";
import { storedSlotsIn, withSecrets, type SpokenKind } from "../history/function-secrets";
import { SecretSlots } from "../history/secret-slots";
import { ChatDrafts } from "./chat-drafts";
import { secretsInForce } from "./copied-secrets";
import { fileIdsIn, nameOf, rowsOf, type DocumentValues } from "./document";
import { Drafts } from "./drafts";
import { versionIn, type Pin, type PinColumns } from "./pins";
import { Versions } from "./versions";

/** An assistant as a conversation runs it; without a pin, as it is now. */
export interface PinnedAssistant extends Assistant {
  readonly pin?: Pin;
}

/** A configuration of a version. */
export type PinnedConfiguration<K extends SpokenKind> = Identified<K> & {
  /** The files that answers use; undefined for those that the assistant has at the time. */
  readonly fileIds?: readonly string[];
};

/** The configuration of a channel in a version. */
export type ChannelConfiguration = Live & Pick<PinnedConfiguration<SpokenKind>, "fileIds">;

/** What a new conversation is to run. Default: the current version. */
export interface Choice {
  readonly assistantVersion?: number | null | undefined;
  readonly draft?: boolean | null | undefined;
}

type Owner = Pick<PinnedAssistant, "id" | "template" | "pin">;

/** A row with the number of the current version, read in the same statement: 1 if no versions are stored. */
type WithVersion<R> = R & { readonly version: number };

/** A configuration with the files that the assistant has in its current version, read in the same statement. */
type WithFiles<R> = WithVersion<R> & { readonly currentFileIds: readonly string[] };

/** Fields that switch a channel off. Their current values apply to all versions; a draft may switch the channel on for a try. */
const LIVE_FIELDS = ["chatMode", "smsMode"];

/** The assistants of conversations, in the versions that the conversations use. */
export class PinnedAssistants {
  constructor(private readonly scope: Scope) {}

  /**
   * An assistant or template for a new conversation.
   * @throws ASSISTANT_NOT_FOUND, DRAFT_NOT_FOUND; BAD_USER_INPUT for a version that does not exist
   */
  async begin(id: string, { assistantVersion, draft }: Choice = {}): Promise<PinnedAssistant> {
    const [row] = await this.scope.read(LIVE, [id]);
    if (!row) return this.scope.of(Assistants).byId(id);
    const number = assistantVersion ?? row.version;
    const isFormer = number !== row.version;
    if (isFormer) await this.checkVersion(id, number);
    if (!draft) return this.pinned(row, { number, isFormer });
    const copy = await this.scope
      .of(Drafts)
      .copy(id)
      .catch((error) => failAt("draft", error));
    return this.pinned(row, { number, draft: copy });
  }

  /**
   * Prevents deletion of the assistant, and removal of its versions, until the end of the transaction, which stores a chat.
   * @throws ASSISTANT_NOT_FOUND; BAD_USER_INPUT if the version has just been removed
   */
  async lockForChat({ id, pin }: Owner): Promise<void> {
    await this.scope.of(Assistants).lockForChat(id);
    if (pin?.isFormer) await this.checkVersion(id, pin.number);
  }

  /** An assistant of a chat as the chat runs it, even if it has been deleted. */
  async in(chat: PinColumns, id = chat.assistantId): Promise<PinnedAssistant> {
    return this.at(id, await this.pinIn(chat, id));
  }

  /** An assistant in the version or draft of a pin, even if it has been deleted. Calls in the same tick share one statement. */
  async at(id: string, pin: Pin | undefined): Promise<PinnedAssistant> {
    if (!pin) return this.scope.of(Assistants).byIdIncludingDeleted(id);
    const loader = this.scope.loader<WithVersion<AssistantRow> | undefined>("pinned", async (ids) => {
      const rows = await this.scope.read(EVEN_DELETED, [ids]);
      return ids.map((one) => rows.find((row) => row.id === one));
    });
    const row = await loader.load(id);
    return row ? this.pinned(row, pin) : this.scope.of(Assistants).byIdIncludingDeleted(id);
  }

  /** Like `in`; undefined for a deleted assistant. */
  async ifLive(chat: PinColumns, id: string): Promise<PinnedAssistant | undefined> {
    const [row] = await this.scope.read(LIVE, [id]);
    return row && this.pinned(row, await this.pinIn(chat, id));
  }

  /** What a chat runs of one of its assistants; undefined if it follows the assistant. */
  async pinIn(chat: PinColumns, id = chat.assistantId): Promise<Pin | undefined> {
    const number = versionIn(chat, id);
    if (number === null) return undefined;
    const draft = chat.runsDraft ? await this.scope.of(ChatDrafts).of(chat.id) : undefined;
    return { number, ...(draft && { draft }) };
  }

  /** A configuration as a conversation runs it, with the files of the same version. Calls in the same tick share one statement. */
  async configuration<K extends SpokenKind>(kind: K, owner: Owner): Promise<PinnedConfiguration<K>> {
    const { id, template, pin } = owner;
    const configurations = this.scope.of(Configurations);
    if (template || !pin) return configurations.of(kind, owner);
    const loader = this.scope.loader<WithFiles<Kinds[K]> | undefined>(`pinned.${kind}`, async (ids) => {
      const rows = await this.scope.read(STATEMENTS[kind], [ids]);
      return ids.map((one) => rows.find(({ assistantId }) => assistantId === one)) as never; // rows of this kind
    });
    const row = await loader.load(id);
    if (!row) return configurations.of(kind, owner);
    const { version, currentFileIds, ...live } = row;
    const values = await this.values(id, version, pin);
    const own = await this.columnsOf(kind, id, values, pin);
    const shown = configurations.shown(kind, id, { ...live, ...own } as unknown as Kinds[K]); // all of its columns
    return { ...shown, fileIds: fileIdsIn(values) ?? currentFileIds };
  }

  /** Numbers of current versions by assistant. */
  async currentVersions(ids: readonly string[]): Promise<Record<string, number>> {
    const rows = await this.scope.read(CURRENT, [ids]);
    return Object.fromEntries(rows.map(({ assistantId, number }) => [assistantId, number]));
  }

  private async pinned(
    { version, ...row }: WithVersion<AssistantRow>,
    pin: Pin | undefined,
  ): Promise<PinnedAssistant> {
    const assistant = { template: false, ...row };
    if (!pin) return assistant;
    return { ...assistant, ...rowsOf(await this.values(row.id, version, pin)).assistant, pin };
  }

  /** The values that differ from the current ones; none for the current version. */
  private async values(assistantId: string, current: number, pin: Pin): Promise<DocumentValues> {
    const { number, draft } = pin;
    const values = current === number ? {} : await this.scope.of(Versions).values({ assistantId, number });
    return { ...values, ...draft?.content };
  }

  private async columnsOf(
    kind: SpokenKind,
    assistantId: string,
    values: DocumentValues,
    { draft }: Pin,
  ): Promise<Readonly<Record<string, unknown>>> {
    const [, columns = {}] = rowsOf(values).configurations.find(([one]) => one === kind) ?? [];
    const isOwn = (name: string) =>
      !LIVE_FIELDS.includes(name) || (draft && Object.hasOwn(draft.content, nameOf(kind, name)));
    const own = Object.fromEntries(Object.entries(columns).filter(([name]) => isOwn(name)));
    const { functions: text } = own;
    if (typeof text !== "string") return own;
    const isSecret = storedSlotsIn(kind, text).length > 0;
    const stored = isSecret ? await this.scope.of(SecretSlots).current(assistantId) : {};
    const secrets = secretsInForce(draft?.secrets ?? {}, stored);
    return { ...own, functions: readStored(withSecrets(kind, text, secrets)) };
  }

  private async checkVersion(assistantId: string, number: number): Promise<void> {
    if (await this.scope.of(Versions).find(assistantId, number)) return;
    throw invalid([
      { path: "assistantVersion", message: `must be a version of the assistant; got ${number}` },
    ]);
  }
}

const assistantsWithVersion = (restrict: (rows: Knex.QueryBuilder, id: Knex.Raw) => Knex.QueryBuilder) =>
  statement<WithVersion<AssistantRow>>(({ table, $, db }) => {
    const assistants: Knex.QueryBuilder = table("assistants");
    return restrict(
      assistants.select(
        ...ASSISTANT_COLUMNS,
        db.raw(`coalesce((select version_heads.number from version_heads
  where version_heads.organization_id = $1 and version_heads.assistant_id = assistants.id), 1) as version`),
      ),
      $(1),
    );
  });

const LIVE = assistantsWithVersion((rows, id) => rows.where({ id }).whereNull("deletedAt"));

const EVEN_DELETED = assistantsWithVersion((rows, ids) => rows.whereRaw("id = any(?::text[])", [ids]));

const CURRENT = statement<{ assistantId: string; number: number }>(({ db }) =>
  db.raw(`
  select assistants.id as assistant_id, coalesce(version_heads.number, 1) as number from assistants
  left join version_heads on version_heads.organization_id = $1 and version_heads.assistant_id = assistants.id
  where assistants.organization_id = $1 and assistants.id = any($2::text[])`),
);

const statementOf = (kind: SpokenKind) =>
  new Statement<{ assistantId: string }>(({ table, $, db }) =>
    table(CONFIGURATIONS[kind])
      .select(
        "assistantId",
        ...COLUMNS[kind],
        db.raw(`coalesce((select version_heads.number from version_heads
  where version_heads.organization_id = $1
    and version_heads.assistant_id = ${CONFIGURATIONS[kind]}.assistant_id), 1) as version, array(
    select assistant_files.file_id from assistant_files where assistant_files.organization_id = $1
      and assistant_files.assistant_id = ${CONFIGURATIONS[kind]}.assistant_id) as current_file_ids`),
      )
      .where("assistantId", db.raw("any(?::text[])", [$(1)])),
  );
const STATEMENTS: Readonly<Record<SpokenKind, ReturnType<typeof statementOf>>> = {
  voice: statementOf("voice"),
  sms: statementOf("sms"),
  chat: statementOf("chat"),
};
