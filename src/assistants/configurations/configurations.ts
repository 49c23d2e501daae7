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
import { isSpoken, warnOfLostSecrets, withoutSecrets, type SpokenKind } from "../history/function-secrets";
import { HAS_VERSION, isLong, valuesOf, versionParts } from "../history/kept-content";
import { secretParts, SecretSlots } from "../history/secret-slots";
import { warnOfUnclearSecrets } from "../history/twin-functions";
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
interface Changes {
  /** New values of columns, and the time of the change. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether a value, other than the functions, may be a long one of the version. */
  readonly hasLong: boolean;
}
interface FunctionChanges extends Changes {
  readonly functions: string;
}
interface Owner {
  readonly id: string;
  readonly template: boolean;
}

/**
 * Statements that change some columns of a configuration, and make a version. Parameters: the assistant's id, the values
 * of the columns, and, if one of them is part of the document, the author of the version, the functions of the version and
 * the values of `secretParts` if they are changed, and whether to change an assistant without versions.
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
        const rest = (place: number) => $(columns.length + 1 + place);
        const secrets =
          isSpoken(kind) && kept.includes("functions")
            ? secretParts(pieces, { id, kind, values: [rest(3), rest(4), rest(5)] })
            : undefined;
        const isUnversioned = rest(secrets ? 6 : 2);
        const values = valuesOf(`${kind}.`, kept.map(snake), `${rest(2).toQuery()}::text`);
        rows.whereRaw(`${HAS_VERSION(id, isUnversioned)}`);
        if (secrets) rows.whereRaw(`${secrets.condition}`);
        return {
          rows: rows.update(changes).returning(COLUMNS[kind]),
          parts: { ...versionParts(pieces, { id, values, author: rest(1), hasLong }), ...secrets?.parts },
        };
      }, isPrepared),
  );
const UPDATES = {
  voice: updatesOf("voice"),
  sms: updatesOf("sms"),
  chat: updatesOf("chat"),
  theme: updatesOf("theme"),
};

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
    const values = encoded({ ...input, updatedAt: currentDate() });
    const { functions } = values;
    const hasLong = Object.entries(input).some(([name, value]) => name !== "functions" && isLong(value));
    const changed =
      typeof functions === "string" && isSpoken(kind)
        ? await this.changeFunctions(kind, assistantId, { values, hasLong, functions })
        : await this.change(kind, assistantId, { values, hasLong });
    return this.shown(kind, assistantId, changed as Kinds[K]); // of the table of this kind
  }

  private async change(
    kind: ConfigurationKind,
    assistantId: string,
    { values, hasLong }: Changes,
  ): Promise<object> {
    const columns = Object.keys(values);
    const updates = UPDATES[kind].of(columns, hasLong);
    const keeper = this.scope.of(VersionKeeper);
    const given = [assistantId, ...Object.values(values)];
    const [row] = columns.some((column) => COLUMNS[kind].includes(column))
      ? await keeper.change(assistantId, updates, [...given, keeper.author()])
      : await this.scope.change(updates, given);
    return row ?? this.scope.of(Templates).rejectWrite(assistantId);
  }

  /** Secrets of functions are written to the configuration only, and `stored` ones are those that it has. */
  private async changeFunctions(
    kind: SpokenKind,
    assistantId: string,
    changes: FunctionChanges,
  ): Promise<object> {
    const changed = await this.tryFunctions(kind, assistantId, changes);
    if (changed) return changed;
    // Somebody else is changing the functions, or there is no version yet.
    return this.scope.transaction(async (scope) => {
      // It locks all rows of the assistant, so it comes before what locks one of them.
      await scope.of(VersionKeeper).begin(assistantId);
      await scope.of(SecretSlots).lock(assistantId, kind);
      const row = await scope.of(Configurations).tryFunctions(kind, assistantId, changes, true);
      return row ?? scope.of(Templates).rejectWrite(assistantId);
    });
  }

  /** @returns undefined if they have changed since they were read, or if there is no version or no assistant */
  private async tryFunctions(
    kind: SpokenKind,
    assistantId: string,
    changes: FunctionChanges,
    isUnversioned = false,
  ): Promise<object | undefined> {
    const change = await this.scope.of(SecretSlots).changeOf(assistantId, kind, changes.functions);
    if (!change) return undefined;
    const { functions, lost, unclear, secrets } = change;
    const kept = withoutSecrets(kind, functions);
    const updates = UPDATES[kind].of(Object.keys(changes.values), changes.hasLong || isLong(kept));
    const values = Object.values({ ...changes.values, functions });
    const author = this.scope.of(VersionKeeper).author();
    const given = [assistantId, ...values, author, kept, ...secrets, isUnversioned];
    const [row] = await this.scope.change(updates, given);
    if (!row) return undefined;
    warnOfLostSecrets(this.scope, kind, lost);
    warnOfUnclearSecrets(this.scope, kind, unclear);
    return row;
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
