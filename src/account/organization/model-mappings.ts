import { currentDate } from "../../platform/clock";
import type { ModelEntry } from "../../platform/catalog/load-catalog";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { invalid, quoted } from "../../platform/errors";
import type { ModelCredential } from "../../platform/ports/text-model";
import { hintOf, ModelCredentials } from "./model-credentials";
import { ModelFailures } from "./model-failures";

/** An organization's own server, model and key for an identifier of the catalog. */
export interface StoredMapping {
  /** The identifier: an organization has one mapping for each. */
  readonly id: string;
  readonly model: string;
  readonly name: string;
  readonly provider: string | null;
  readonly baseUrl: string | null;
  readonly keyHint: string | null;
  readonly updatedAt: Date;
}

export interface MappingInput {
  /** The server's own name of the model; without it the mapping is removed. */
  readonly name?: string | null | undefined;
  /** A provider of the catalog; exactly one of provider and base URL is set. */
  readonly provider?: string | null | undefined;
  /** Address of an OpenAI-compatible server. */
  readonly baseUrl?: string | null | undefined;
  readonly apiKey?: string | null | undefined;
}

interface MappingRow extends Omit<StoredMapping, "id" | "keyHint"> {
  readonly sealedKey: string | null;
}

/** The model that answers for an identifier, and the credential to call it with. */
export interface ChosenModel {
  readonly model: ModelEntry;
  /** Undefined if none is set; the local model then answers. */
  readonly credential: ModelCredential | undefined;
}

const MAPPINGS = statement(({ table }) => table("model_mappings").orderBy("model"));

/** Which server and model answer for each identifier of the catalog. An organization's mapping takes precedence. */
export class ModelMappings {
  private rows: Promise<MappingRow[]> | undefined;

  constructor(private readonly scope: Scope) {}

  async list(): Promise<StoredMapping[]> {
    return (await this.read()).map((row) => this.toStoredMapping(row));
  }

  /** Reads the organization's mappings, once. Can be called early to read them in parallel with other data. */
  read(): Promise<MappingRow[]> {
    this.rows ??= this.scope.read(MAPPINGS);
    return this.rows;
  }

  /**
   * Maps an identifier, replacing an earlier mapping. Without a name, removes the mapping.
   * @returns the mapping, or null
   * @throws BAD_USER_INPUT for an unknown identifier or provider, or an address that is not allowed
   */
  async set(model: string, input: MappingInput): Promise<StoredMapping | null> {
    this.check(model, input);
    const { name = null, provider = null, baseUrl = null, apiKey = null } = input;
    const sealedKey = apiKey === null ? null : this.scope.ports.crypto.seal(apiKey, this.context(model));
    return this.scope.transaction(async (scope) => {
      await scope.of(ModelMappings).clear([model]);
      await scope.of(ModelFailures).forget(model);
      if (name === null) return null;
      const row = { id: newId(), model, name, provider, baseUrl, sealedKey, updatedAt: currentDate() };
      const [stored] = await scope.insert("model_mappings", row);
      return this.toStoredMapping(stored!);
    });
  }

  /** Removes the mappings of these identifiers, if they have one. */
  async clear(models: readonly string[]): Promise<void> {
    await this.scope
      .table("model_mappings")
      .whereIn("model", [...models])
      .delete();
  }

  /**
   * The model that answers for an identifier: the organization's mapping, else the catalog's model if there is a
   * credential for its provider, else the server's model for all other identifiers (MODEL_NAME).
   */
  async for(id: string): Promise<ChosenModel> {
    const { catalog, models } = this.scope.ports;
    const entry = catalog.models.find((model) => model.id === id);
    if (!entry) throw new Error(`The catalog has no model ${id}.`);
    const [rows] = await Promise.all([this.read(), this.scope.of(ModelCredentials).read()]);
    const row = rows.find(({ model }) => model === id);
    if (row) return this.mapped(entry, row);
    const credential = await this.scope.of(ModelCredentials).for(entry);
    const { fallback } = models;
    if (credential || !fallback) return { model: entry, credential };
    const { id: _, channels } = entry;
    return {
      model: { id, channels, ...fallback.model, namedBy: "MODEL_NAME" },
      credential: fallback.credential,
    };
  }

  private async mapped({ id, channels }: ModelEntry, row: MappingRow): Promise<ChosenModel> {
    const { name, baseUrl, provider, sealedKey } = row;
    const namedBy = "setModelMapping" as const;
    const own =
      sealedKey === null ? {} : { apiKey: this.scope.ports.crypto.open(sealedKey, this.context(id)) };
    if (baseUrl !== null) {
      const model = { id, channels, provider: new URL(baseUrl).host, model: name, baseUrl, namedBy };
      return { model, credential: { ...own, baseUrl, guarded: true } };
    }
    const model = { id, channels, provider: provider!, model: name, namedBy };
    const known = await this.scope.of(ModelCredentials).for(model);
    // An own key goes to the provider's address, or to the one that the organization has set for the provider.
    const credential = sealedKey === null ? known : { guarded: false, ...known, ...own };
    return { model, credential };
  }

  private check(model: string, { name, provider, baseUrl, apiKey }: MappingInput): void {
    const { catalog, outbound } = this.scope.ports;
    const refuse = (path: string, message: string) => {
      throw invalid([{ path, message }]);
    };
    const among = (path: string, known: readonly { readonly id: string }[], value: string) =>
      known.some(({ id }) => id === value) ||
      refuse(path, `must be one of ${known.map(({ id }) => id).join(", ")}; got ${quoted(value)}`);
    among("model", catalog.models, model);
    if (name == null && (provider ?? baseUrl ?? apiKey) != null)
      refuse("name", "is missing: name the model, or send only `model` to delete the mapping");
    if (name != null && (provider == null) === (baseUrl == null))
      refuse("provider", "must be set if `baseUrl` is not, but not together with it");
    if (provider != null) among("provider", catalog.providers, provider);
    const problem = baseUrl == null ? undefined : outbound.problemWith(baseUrl);
    if (problem) refuse("baseUrl", problem);
  }

  private toStoredMapping({
    sealedKey,
    model,
    name,
    provider,
    baseUrl,
    updatedAt,
  }: MappingRow): StoredMapping {
    const key = sealedKey === null ? null : this.scope.ports.crypto.open(sealedKey, this.context(model));
    return { id: model, model, name, provider, baseUrl, updatedAt, keyHint: hintOf(key) };
  }

  private context(model: string): string {
    return `${this.scope.organizationId}/model_mappings/${model}`;
  }
}
