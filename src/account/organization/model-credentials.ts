import { currentDate } from "../../platform/clock";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { invalid, quoted } from "../../platform/errors";
import type { ModelEntry } from "../../platform/catalog/load-catalog";
import type { ModelCredential } from "../../platform/ports/text-model";

export interface StoredCredential {
  /** The provider: an organization has one credential for each. */
  readonly id: string;
  readonly provider: string;
  readonly keyHint: string | null;
  readonly baseUrl: string | null;
  readonly updatedAt: Date;
}

interface CredentialRow extends Omit<StoredCredential, "id" | "keyHint"> {
  readonly sealedKey: string | null;
}

const CREDENTIALS = statement(({ table }) => table("model_credentials").orderBy("provider"));

/** Credentials for providers of text models. An organization's own take precedence over the server's settings. */
export class ModelCredentials {
  private rows: Promise<CredentialRow[]> | undefined;

  constructor(private readonly scope: Scope) {}

  async list(): Promise<StoredCredential[]> {
    return (await this.read()).map((row) => this.toStoredCredential(row));
  }

  /** Reads the organization's credentials, once. Can be called early to read them in parallel with other data. */
  read(): Promise<CredentialRow[]> {
    this.rows ??= this.scope.read(CREDENTIALS);
    return this.rows;
  }

  /**
   * Sets the organization's credential for a provider; removes it if key and address are null.
   * @throws BAD_USER_INPUT for an unknown provider or an address that is not allowed
   */
  async set(provider: string, apiKey: string | null, baseUrl: string | null): Promise<StoredCredential> {
    const { catalog, outbound, crypto } = this.scope.ports;
    const known = catalog.providers.map(({ id }) => id);
    if (!known.includes(provider))
      throw invalid([
        { path: "provider", message: `must be one of ${known.join(", ")}; got ${quoted(provider)}` },
      ]);
    const problem = baseUrl === null ? undefined : outbound.problemWith(baseUrl);
    if (problem) throw invalid([{ path: "baseUrl", message: problem }]);
    return this.scope.transaction(async (scope) => {
      await scope.table("model_credentials").where({ provider }).delete();
      const updatedAt = currentDate();
      if (apiKey === null && baseUrl === null)
        return { id: provider, provider, keyHint: null, baseUrl, updatedAt };
      const sealedKey = apiKey === null ? null : crypto.seal(apiKey, this.context(provider));
      const [row] = await scope.insert("model_credentials", {
        id: newId(),
        provider,
        sealedKey,
        baseUrl,
        updatedAt,
      });
      return this.toStoredCredential(row!);
    });
  }

  /** The credential for calling a model; undefined if neither the organization nor the server has one. */
  async for(model: Pick<ModelEntry, "provider" | "baseUrl">): Promise<ModelCredential | undefined> {
    const { crypto, models } = this.scope.ports;
    const row = (await this.read()).find(({ provider }) => provider === model.provider);
    const server = models.credentials[model.provider];
    const baseUrl = row?.baseUrl ?? model.baseUrl ?? server?.baseUrl;
    const guarded = row?.baseUrl != null;
    if (row?.sealedKey != null) {
      const apiKey = crypto.open(row.sealedKey, this.context(model.provider));
      return { apiKey, guarded, ...(baseUrl !== undefined && { baseUrl }) };
    }
    if (baseUrl === undefined && server?.apiKey === undefined) return undefined;
    // The server's own key is never sent to an address that an organization has set.
    const apiKey = guarded ? undefined : server?.apiKey;
    return { guarded, ...(apiKey !== undefined && { apiKey }), ...(baseUrl !== undefined && { baseUrl }) };
  }

  private toStoredCredential({ provider, sealedKey, baseUrl, updatedAt }: CredentialRow): StoredCredential {
    const key = sealedKey === null ? null : this.scope.ports.crypto.open(sealedKey, this.context(provider));
    return { id: provider, provider, baseUrl, updatedAt, keyHint: hintOf(key) };
  }

  private context(provider: string): string {
    return `${this.scope.organizationId}/model_credentials/${provider}`;
  }
}

/** The last characters of a key, by which people recognize it. */
export const hintOf = (key: string | null): string | null => (key === null ? null : `…${key.slice(-4)}`);
