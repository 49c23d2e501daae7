import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { currentTime } from "../../platform/clock";
import type { Database, OwnedRecord } from "../../platform/database/database";
import { statement } from "../../platform/database/statement";
import { idInAll } from "../../platform/database/values/ids";
import type { Listener } from "../../platform/database/notifications/listener";
import { DomainError } from "../../platform/errors";
import type { Caller } from "./caller";
import type { Crypto } from "../../platform/crypto";
import type { KeyType } from "./keys";
import { limitsOf, type LimitColumns } from "./limits";
import { adviceOnKey } from "./mistaken";
import { tokenExpired, verifyToken, type TokenClaims } from "./tokens";

/** Headers of a request, or the payload of a WebSocket's `connection_init`, names in lower case. */
export type CredentialHeaders = Readonly<Record<string, unknown>>;

interface StoredKey extends LimitColumns {
  readonly organizationId: string;
  readonly id: string;
  readonly type: KeyType;
  readonly status: "ACTIVE" | "INACTIVE";
  readonly expiresAt: Date | null;
  /** Time until expiry when the row was read, by the database's clock. */
  readonly remainingMs: number | null;
}

interface CachedKey extends StoredKey {
  /** Expiry on this process's monotonic clock (`performance.now()`). */
  readonly endsAt: number;
}

/** Channel of notifications about changed keys, to every server process. */
export const KEYS_CHANNEL = "parley_keys";
/** Precision of a key's `lastUsedAt`. */
const LAST_USED_PRECISION_MS = 60_000;

const KEY_BY_ID = statement<StoredKey>(({ table, $, db }) =>
  table("api_keys")
    .select("*", db.raw("date_part('epoch', expires_at - now()) * 1000 as remaining_ms"))
    .where({ id: $(1) }),
);

/** Authenticates callers. Keys are cached until a notification says that they have changed. */
export class Credentials {
  private readonly keys = new LRUCache<string, CachedKey>({ max: 10_000, ttl: 300_000 });
  /** Keys by a digest of their value that takes a fifth of the time of that in the database. */
  private readonly owned = new LRUCache<string, OwnedRecord<"keyId">>({ max: 10_000, ttl: 300_000 });
  private readonly tokens = new LRUCache<string, TokenClaims>({ max: 10_000, ttl: 300_000 });
  private readonly lastUses = new LRUCache<string, number>({ max: 10_000 });
  /** Incremented at each change, so that a read that started before the change is not cached. */
  private generation = 0;

  constructor(
    private readonly database: Database,
    private readonly crypto: Crypto,
    private readonly listener: Listener,
  ) {
    listener.on(KEYS_CHANNEL, ({ organizationId, keyId }) => this.forget(organizationId!, keyId!));
    listener.onRenewed(() => this.forgetAll());
  }

  /**
   * Authenticates a request. If it has a key and a token, both must be valid and the key decides.
   * @returns undefined without a credential
   * @throws UNAUTHENTICATED if a credential is not valid
   */
  async caller(headers: CredentialHeaders): Promise<Caller | undefined> {
    const { authorization } = headers;
    const key = headers["x-api-key"];
    const byKey = typeof key === "string" && key !== "" ? await this.byKey(key) : undefined;
    if (typeof authorization !== "string" || authorization === "") return byKey;
    // With a key, another scheme is meant for a proxy in front of this service.
    if (byKey && !/^Bearer /i.test(authorization)) return byKey;
    const byBearer = await this.byBearer(authorization);
    return byKey ?? byBearer;
  }

  /** Whether a caller's credential is still valid. Subscriptions check this when a key changes. */
  async stillValid(caller: Caller): Promise<boolean> {
    const { organizationId, keyId } = caller;
    return !isExpired(caller) && (keyId === undefined || isActive(await this.keyById(organizationId, keyId)));
  }

  /** Removes a key from the cache. */
  forget(organizationId: string, keyId: string): void {
    this.generation++;
    this.keys.delete(idInAll(organizationId, keyId));
  }

  forgetAll(): void {
    this.generation++;
    this.keys.clear();
    this.owned.clear();
  }

  private async byKey(value: string): Promise<Caller> {
    const stored = await this.keyByValue(value);
    if (!isActive(stored))
      throw new DomainError("UNAUTHENTICATED", stored ? refusalOf(stored) : adviceOnKey(value));
    this.touch(stored);
    const { organizationId, type: kind, id: keyId, expiresAt } = stored;
    return { organizationId, kind, keyId, ...(expiresAt && { expiresAt }), ...limitsPart(stored) };
  }

  private async byBearer(authorization: string): Promise<Caller> {
    const token = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
    if (token === undefined)
      throw new DomainError(
        "UNAUTHENTICATED",
        "Authorization must be `Bearer <token>`. Send API keys in X-API-Key instead.",
      );
    const claims = this.tokens.get(token) ?? (await verifyToken(this.crypto, token));
    this.tokens.set(token, claims);
    const key = await this.keyById(claims.organizationId, claims.keyId);
    if (isExpired(claims)) throw tokenExpired(claims.expiresAt);
    if (!isActive(key))
      throw new DomainError(
        "UNAUTHENTICATED",
        "The key that issued this bearer token is inactive, expired or deleted. Request a new token with an active key.",
      );
    return { ...claims, ...limitsPart(key) };
  }

  private async keyByValue(value: string): Promise<CachedKey | undefined> {
    const digest = hash("sha256", value, "base64");
    const known = this.owned.get(digest);
    const cached = known && this.cached(idInAll(known.organizationId, known.keyId));
    if (cached) return cached;
    const found = await this.database.ownerOfKey(this.crypto.lookups(value));
    if (!found) return undefined;
    this.owned.set(digest, found);
    return this.keyById(found.organizationId, found.keyId);
  }

  private async keyById(organizationId: string, id: string): Promise<CachedKey | undefined> {
    const name = idInAll(organizationId, id);
    const cached = this.cached(name);
    if (cached) return cached;
    const { generation } = this;
    const scope = this.database.scope(organizationId);
    const [stored] = await scope.read(KEY_BY_ID, [id]);
    const key = stored && { ...stored, endsAt: performance.now() + (stored.remainingMs ?? Infinity) };
    if (key && generation === this.generation) this.keys.set(name, key);
    return key;
  }

  private cached(name: string): CachedKey | undefined {
    return this.listener.connected ? this.keys.get(name) : undefined;
  }

  private touch({ organizationId, id }: CachedKey): void {
    const now = currentTime();
    const name = idInAll(organizationId, id);
    if (now - (this.lastUses.get(name) ?? 0) < LAST_USED_PRECISION_MS) return;
    this.lastUses.set(name, now);
    const scope = this.database.scope(organizationId);
    // Not awaited: a request neither waits for this update nor fails with it.
    void scope
      .table("api_keys")
      .where({ id })
      .update({ lastUsedAt: new Date(now) })
      .catch(() => undefined);
  }
}

/** Whether a token has expired. Keys expire by the database's clock instead. */
const isExpired = ({ kind, expiresAt }: Pick<Caller, "kind" | "expiresAt">): boolean =>
  kind !== "SECRET" && kind !== "PUBLIC" && expiresAt !== undefined && expiresAt.getTime() <= currentTime();

const isActive = (key: CachedKey | undefined): key is CachedKey =>
  key?.status === "ACTIVE" && performance.now() < key.endsAt;

/** The message for a key that is not active. Only its holder can get it, because the key was found by its value. */
const refusalOf = ({ status, expiresAt }: CachedKey): string =>
  status === "INACTIVE"
    ? "This API key is inactive. Activate it with another key: PATCH /rest/v1/organization/keys/{keyId}. Without another key, create one on the server: `npm run --silent key:create`."
    : `This API key expired at ${expiresAt?.toISOString()}. Create another with POST /rest/v1/organization/keys and another key, or on the server: \`npm run --silent key:create\`.`;

function limitsPart(key: CachedKey): Pick<Caller, "limits"> {
  const limits = limitsOf(key);
  return limits === undefined ? {} : { limits };
}
