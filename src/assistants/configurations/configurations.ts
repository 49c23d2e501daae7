import type { Knex } from "knex";
import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { AuditedStatement } from "../../platform/database/audited-statement";
import { encoded } from "../../platform/database/values/encoded";
import type { PublicRow } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { StatementFamily } from "../../platform/database/statement-family";
import { snake } from "../../platform/database/values/names";
import { notFound } from "../../platform/errors";
import {
  isSpoken,
  storedSlotsIn,
  warnOfLostSecrets,
  withoutSecrets,
  withSecrets,
  type SpokenKind,
} from "../history/function-secrets";
import { HAS_VERSION, isLong, valuesOf, versionParts } from "../history/kept-content";
import { SecretSlots } from "../history/secret-slots";
import { VersionKeeper } from "../history/version-keeper";
import { Templates } from "./templates";
import {
  COLUMNS,
  CONFIGURATIONS,
  projectionOf,
  type ConfigurationKind,
  type Projection,
  type RAG_SETTINGS,
} from "./columns";
import { originsOf } from "./origins";
import { withKnownIdentifiers } from "./known-identifiers";

export { CONFIGURATIONS, type ConfigurationKind };

/** The configuration for a channel. */
export const KIND_OF = { VOICE: "voice", SMS: "sms", TEXT: "chat" } as const satisfies Record<
  Channel,
  ConfigurationKind
>;

/** The fields of each kind of configuration. */
export type Kinds = {
  readonly [K in ConfigurationKind]: PublicRow<(typeof CONFIGURATIONS)[K], "assistantId" | "updatedAt">;
};
export type VoiceConfiguration = Kinds["voice"];
export type SmsConfiguration = Kinds["sms"];
export type ChatConfiguration = Kinds["chat"];
export type ThemeConfiguration = Kinds["theme"];
/** Fields shared by voice, SMS and chat. */
export type ChannelConfiguration = Pick<
  VoiceConfiguration,
  keyof VoiceConfiguration & keyof SmsConfiguration
>;
export type RagSettings = Pick<ChannelConfiguration, (typeof RAG_SETTINGS)[number]>;
/** A configuration with an id of its own, such as `<assistantId>.voice`. */
export type Identified<K extends ConfigurationKind> = Kinds[K] & { readonly id: string };
interface Owner {
  readonly id: string;
  readonly template: boolean;
}

/**
 * Statements that change some columns of a configuration, and make a version. Parameters: the assistant's id, the values
 * of the columns, and, if one of them is part of the document, the author of the version, the functions of the version if
 * they are changed, and whether to change an assistant without versions.
 */
const updatesOf = (kind: ConfigurationKind) =>
  new StatementFamily(
    (columns, isPrepared, hasLong) =>
      new AuditedStatement<object>((pieces) => {
        const { table, $ } = pieces;
        const id = $(1);
        const live = table("assistants").select("id").where({ id }).whereNull("deletedAt");
        const configurations: Knex.QueryBuilder = table(CONFIGURATIONS[kind]);
        const changes = Object.fromEntries(columns.map((column, index) => [column, $(index + 2)]));
        const rows = configurations.where({ assistantId: id }).whereIn("assistantId", live);
        const kept = columns.filter((column) => COLUMNS[kind].includes(column));
        if (kept.length === 0) return { rows: rows.update(changes).returning(COLUMNS[kind]) };
        const [author, functions] = [$(columns.length + 2), $(columns.length + 3)];
        const isUnversioned = kept.includes("functions") ? $(columns.length + 4) : functions;
        const values = valuesOf(`${kind}.`, kept.map(snake), `${functions.toQuery()}::text`);
        return {
          rows: rows
            .whereRaw(`${HAS_VERSION(id, isUnversioned)}`)
            .update(changes)
            .returning(COLUMNS[kind]),
          parts: versionParts(pieces, { id, values, author, hasLong }),
        };
      }, isPrepared),
  );
const UPDATES = {
  voice: updatesOf("voice"),
  sms: updatesOf("sms"),
  chat: updatesOf("chat"),
  theme: updatesOf("theme"),
};

interface ConfigurationChange {
  readonly changes: Readonly<Record<string, unknown>>;
  readonly hasLong: boolean;
  /** The functions of the version, if the changes include functions. */
  readonly kept?: string;
}

/** The four configurations of assistants. */
export class Configurations {
  constructor(private readonly scope: Scope) {}

  /**
   * A configuration of an assistant or template. Calls in the same tick share one statement.
   * @param fields the fields to read, all by default: lists avoid reading long prompts
   */
  of<K extends ConfigurationKind>(
    kind: K,
    assistant: Owner,
    fields?: readonly string[],
  ): Promise<Identified<K>> {
    return this.stored(kind, assistant, fields).then((stored) =>
      this.shown(kind, assistant.id, stored, fields),
    );
  }

  /** A stored configuration with identifiers that the catalog has. */
  shown<K extends ConfigurationKind>(
    kind: K,
    assistantId: string,
    stored: Kinds[K],
    fields?: readonly string[],
  ): Identified<K> {
    const known = withKnownIdentifiers(kind, stored, this.scope.ports.catalog);
    if (fields && !fields.includes("id")) return known as Identified<K>; // copying costs a list of assistants a tenth
    return { ...known, id: `${assistantId}.${kind}` };
  }

  /** The stored configuration, which may have identifiers that the catalog no longer has. */
  stored<K extends ConfigurationKind>(
    kind: K,
    { id, template }: Owner,
    fields = COLUMNS[kind],
  ): Promise<Kinds[K]> {
    return template ? this.ofTemplate(kind, id) : this.loader(kind, projectionOf(kind, fields)).load(id);
  }

  private async ofTemplate<K extends ConfigurationKind>(kind: K, id: string): Promise<Kinds[K]> {
    return (await this.scope.of(Templates).configurations(id))[kind];
  }

  private loader<K extends ConfigurationKind>(kind: K, projection: Projection<K>) {
    return this.scope.loader<Kinds[K]>(projection.name, (ids) => this.byAssistants(projection, ids));
  }

  /** Changes the given fields, and stores a version. @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY */
  async update<K extends ConfigurationKind>(
    kind: K,
    assistantId: string,
    input: Partial<Kinds[K]>,
  ): Promise<Identified<K>> {
    const changes = encoded({ ...input, updatedAt: currentDate() });
    const { functions } = changes;
    const hasLong = Object.values(input).some(isLong);
    const changed =
      typeof functions === "string" && isSpoken(kind)
        ? await this.scope.transaction(async (scope) => {
            // It locks all rows of the assistant, so it comes before what locks one of them.
            await scope.of(VersionKeeper).begin(assistantId);
            return scope.of(Configurations).changeFunctions(kind, assistantId, { ...changes, functions });
          })
        : await this.change(kind, assistantId, { changes, hasLong });
    return this.shown(kind, assistantId, changed as Kinds[K]); // of the table of this kind
  }

  /** Secrets of functions are written to the configuration only, and `stored` ones are those that it has. */
  private async changeFunctions(
    kind: SpokenKind,
    assistantId: string,
    changes: { readonly functions: string },
  ): Promise<object> {
    const slots = this.scope.of(SecretSlots);
    const needsStored = storedSlotsIn(kind, changes.functions).length > 0;
    if (needsStored) await slots.lock(assistantId, kind); // somebody may be replacing a secret
    const stored = needsStored ? await slots.current(assistantId) : {};
    const functions = needsStored ? withSecrets(kind, changes.functions, stored) : changes.functions;
    warnOfLostSecrets(this.scope, kind, storedSlotsIn(kind, changes.functions), stored);
    await slots.keepRemoved(assistantId, kind, functions);
    const kept = withoutSecrets(kind, functions);
    return this.change(kind, assistantId, { changes: { ...changes, functions }, hasLong: true, kept });
  }

  private async change(
    kind: ConfigurationKind,
    assistantId: string,
    { changes, hasLong, kept }: ConfigurationChange,
  ): Promise<object> {
    const columns = Object.keys(changes);
    const updates = UPDATES[kind].of(columns, hasLong);
    const keeper = this.scope.of(VersionKeeper);
    const values = [assistantId, ...Object.values(changes)];
    const [row] = columns.some((column) => COLUMNS[kind].includes(column))
      ? await keeper.change(assistantId, updates, [
          ...values,
          keeper.author(),
          ...(kept === undefined ? [] : [kept]),
        ])
      : await this.scope.change(updates, values);
    return row ?? this.scope.of(Templates).rejectWrite(assistantId);
  }

  /**
   * Sets the origins of web pages that can show an assistant's widget.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, BAD_USER_INPUT
   */
  allowOrigins(assistantId: string, origins: readonly string[]): Promise<Identified<"theme">> {
    return this.update("theme", assistantId, { allowedOrigins: originsOf(origins) });
  }

  private async byAssistants<K extends ConfigurationKind>(
    projection: Projection<K>,
    ids: readonly string[],
  ): Promise<(Kinds[K] | Error)[]> {
    const rows = await this.scope.read(projection.rows, [ids]);
    const found = new Map(rows.map((row) => [row.assistantId, row]));
    return ids.map((id) => found.get(id) ?? notFound("Assistant", id));
  }
}
