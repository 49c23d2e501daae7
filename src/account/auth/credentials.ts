import { LRUCache } from "lru-cache";
import { currentTime } from "../../platform/clock";
import type { Database } from "../../platform/database/database";
import type { Listener } from "../../platform/database/listener";
import { DomainError } from "../../platform/errors";
import type { Caller } from "./caller";
import type { Crypto } from "../../platform/crypto";
import type { KeyType } from "./keys";
import { limitsOf, type LimitColumns } from "./limits";
import { verifyToken, type TokenClaims } from "./tokens";

/** Headers of a request, or the payload of a WebSocket's `connection_init`, names in lower case. */
export type CredentialHeaders = Readonly<Record<string, unknown>>;

interface StoredKey extends LimitColumns {
  readonly organizationId: string;
  readonly id: string;
  readonly type: KeyType;
  readonly status: "ACTIVE" | "INACTIVE";
  readonly expiresAt: Date | null;
  /** Milliseconds from the reading to the end, by the database's clock. */
  readonly remainingMs: number | null;
}

interface CachedKey extends StoredKey {
  /** When it ends, on this process's monotonic clock. */
  readonly endsAt: number;
}

/** The channel on which changed keys are told to every server process. */
export const KEYS_CHANNEL = "parley_keys";
/** A key's `lastUsedAt` is exact to this many milliseconds. */
const LAST_USED_PRECISION_MS = 60_000;

/** Turns credentials into callers. Keys are held in memory until they change: NOTIFY tells. */
export class Credentials {
  private readonly keys = new LRUCache<string, CachedKey>({ max: 10_000, ttl: 300_000 });
  private readonly ids = new LRUCache<string, string>({ max: 10_000, ttl: 300_000 });
  private readonly tokens = new LRUCache<string, TokenClaims>({ max: 10_000, ttl: 300_000 });
  private readonly used = new Map<string, number>();
  /** Raised at each change, so that a read which began before it is not kept. */
  private generation = 0;

  constructor(
    private readonly database: Database,
    private readonly crypto: Crypto,
    private readonly listener: Listener,
  ) {
    listener.on(KEYS_CHANNEL, ({ keyId }) => this.forget(keyId!));
    listener.onRenewed(() => this.forgetAll());
  }

  /**
   * The caller that the headers present; undefined without a credential. With a key and a token the key decides.
   * @throws UNAUTHENTICATED when a credential is presented and not valid, also beside a valid one
   */
  async caller(headers: CredentialHeaders): Promise<Caller | undefined> {
    const { authorization } = headers;
    const key = headers["x-api-key"];
    const byKey = typeof key === "string" && key !== "" ? await this.byKey(key) : undefined;
    if (typeof authorization !== "string" || authorization === "") return byKey;
    // Beside a key another scheme is a proxy's in front of us, and not for us.
    if (byKey && !/^Bearer /i.test(authorization)) return byKey;
    const byBearer = await this.byBearer(authorization);
    return byKey ?? byBearer;
  }

  /** Whether the credential behind a caller still stands; a subscription asks at each change of a key. */
  async stillValid(caller: Caller): Promise<boolean> {
    const { organizationId, keyId } = caller;
    return !isExpired(caller) && (keyId === undefined || isActive(await this.keyById(organizationId, keyId)));
  }

  /** Drops what is remembered of a key, or of all keys. */
  forget(keyId: string): void {
    this.generation++;
    this.keys.delete(keyId);
  }

  forgetAll(): void {
    this.generation++;
    this.keys.clear();
    this.ids.clear();
  }

  private async byKey(value: string): Promise<Caller> {
    const stored = await this.keyByValue(value);
    if (!stored || !isActive(stored))
      throw new DomainError("UNAUTHENTICATED", "The API key is unknown, inactive or expired.");
    this.touch(stored);
    const { organizationId, type: kind, id: keyId, expiresAt } = stored;
    return { organizationId, kind, keyId, ...(expiresAt && { expiresAt }), ...limited(stored) };
  }

  private async byBearer(authorization: string): Promise<Caller> {
    const token = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
    if (token === undefined)
      throw new DomainError("UNAUTHENTICATED", "Authorization must be `Bearer <token>`.");
    const claims = this.tokens.get(token) ?? (await verifyToken(this.crypto, token));
    this.tokens.set(token, claims);
    const key = await this.keyById(claims.organizationId, claims.keyId);
    if (isExpired(claims) || !isActive(key))
      throw new DomainError(
        "UNAUTHENTICATED",
        "The bearer token has expired, or the key behind it is no longer active.",
      );
    return { ...claims, ...limited(key) };
  }

  private async keyByValue(value: string): Promise<CachedKey | undefined> {
    const lookup = this.crypto.lookup(value);
    const known = this.ids.get(lookup);
    const cached = known === undefined ? undefined : this.cached(known);
    if (cached) return cached;
    const found = await this.database.ownerOfKey(this.crypto.lookups(value));
    if (!found) return undefined;
    this.ids.set(lookup, found.keyId);
    return this.keyById(found.organizationId, found.keyId);
  }

  private async keyById(organizationId: string, id: string): Promise<CachedKey | undefined> {
    const cached = this.cached(id);
    if (cached) return cached;
    const { generation } = this;
    const scope = this.database.scope(organizationId);
    const [stored] = await scope.named<StoredKey>(
      "credential",
      (table, $, db) =>
        table("api_keys")
          .select("*", db.raw("date_part('epoch', expires_at - now()) * 1000 as remaining_ms"))
          .where({ id: $(1) }),
      [id],
    );
    const key = stored && { ...stored, endsAt: performance.now() + (stored.remainingMs ?? Infinity) };
    if (key && generation === this.generation) this.keys.set(id, key);
    return key;
  }

  private cached(id: string): CachedKey | undefined {
    return this.listener.connected ? this.keys.get(id) : undefined;
  }

  private touch({ organizationId, id }: CachedKey): void {
    const now = currentTime();
    if (now - (this.used.get(id) ?? 0) < LAST_USED_PRECISION_MS) return;
    this.used.set(id, now);
    const scope = this.database.scope(organizationId);
    // Not awaited: a request never waits for, or fails by, the note of when its key was used.
    void scope
      .table("api_keys")
      .where({ id })
      .update({ lastUsedAt: new Date(now) })
      .catch(() => undefined);
  }
}

/** Whether a token has ended; the end of a key is a matter of the database's clock. */
const isExpired = ({ kind, expiresAt }: Pick<Caller, "kind" | "expiresAt">): boolean =>
  kind !== "SECRET" && kind !== "PUBLIC" && expiresAt !== undefined && expiresAt.getTime() <= currentTime();

const isActive = (key: CachedKey | undefined): key is CachedKey =>
  key?.status === "ACTIVE" && performance.now() < key.endsAt;

function limited(key: CachedKey): Pick<Caller, "limits"> {
  const limits = limitsOf(key);
  return limits === undefined ? {} : { limits };
}
