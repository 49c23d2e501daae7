import {
  connectionByAge,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { speaksForOrganization, type Caller } from "../auth/caller";
import { KEYS_CHANNEL } from "../auth/credentials";
import { masked, newKeyValue, type KeyType } from "../auth/keys";
import { limitsOfSeenKeys, type LimitColumns, type Limits, type Permission } from "../auth/limits";
import { newId } from "../../platform/database/values/ids";
import { NEWEST_FIRST } from "../../platform/database/lists/order";
import type { New } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { DomainError, missing, quoted } from "../../platform/errors";
import { importedLimits, limitsFor } from "./key-limits";

export type KeyStatus = "ACTIVE" | "INACTIVE";

/** An API key as shown to callers. */
export interface Key extends LimitColumns {
  readonly id: string;
  readonly value: string;
  readonly type: KeyType;
  readonly status: KeyStatus;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly name: string | null;
  readonly expiresAt: Date | null;
}

export interface KeyInput {
  readonly type?: KeyType | null;
  readonly status?: KeyStatus | null;
  readonly name?: string | null;
  readonly expiresAt?: Date | null;
  readonly permissions?: readonly Permission[] | null;
  readonly assistantIds?: readonly string[] | null;
}

/** A key of another service. */
export interface ImportedKey extends KeyInput {
  readonly id: string;
  readonly value: string;
  /** Default: now. */
  readonly createdAt?: Date | null;
}

/** The creator of a key, undefined for the operator; and its value, generated if undefined. */
interface KeyCreation {
  readonly caller?: Caller;
  readonly value?: string;
}

/** SQLSTATE of a unique violation. */
const UNIQUE_VIOLATION = "23505";

const ENCRYPTED_WITH = statement<{ id: string }>(({ db, table }) =>
  table("api_keys").distinct(db.raw("split_part(sealed_value, '.', 1) as id")),
);

type KeyRow = Omit<Key, "value"> & { readonly sealedValue: string };

/**
 * The keys of an organization. Only a SECRET key sees full values of SECRET keys. Keys that grant more than the caller's
 * limits are hidden from the caller.
 */
export class Keys {
  constructor(private readonly scope: Scope) {}

  async list(caller: Caller): Promise<Key[]> {
    const rows = await this.seenBy(caller).orderBy(NEWEST_FIRST);
    return rows.map((row) => this.toKey(row, caller));
  }

  /** The same by creation, as a connection. */
  async connection(query: ConnectionQuery, caller: Caller): Promise<Connection<Key>> {
    return connectionByAge({ rows: this.seenBy(caller), map: (row) => this.toKey(row, caller) }, query);
  }

  private seenBy(caller: Caller) {
    return this.within(limitsOfSeenKeys(caller.limits));
  }

  /** Keys that grant no more than some limits allow. */
  private within(limits: Limits | undefined) {
    const rows = this.scope.table("api_keys");
    for (const name of ["permissions", "assistantIds"] as const) {
      const all = limits?.[name];
      if (all) rows.whereRaw("?? <@ ?::jsonb", [name, JSON.stringify(all)]);
    }
    return rows;
  }

  private active(type: KeyType, limits?: Limits) {
    const active = this.within(limits).where({ type, status: "ACTIVE" });
    return active.whereRaw("(expires_at is null or expires_at > now())");
  }

  /** Calls in the same tick share one statement. @throws KEY_NOT_FOUND */
  async byId(id: string, caller: Caller): Promise<Key> {
    const loader = this.scope.loader<KeyRow | undefined>("keys by id", async (ids) => {
      const rows = await this.seenBy(caller).whereIn("id", ids);
      return ids.map((one) => rows.find((row) => row.id === one));
    });
    return this.toKey((await loader.load(id)) ?? missing("Key", id), caller);
  }

  /** @throws Error if ENCRYPTION_KEYS lacks a key with which a value is encrypted */
  async check(): Promise<void> {
    for (const { id } of await this.scope.read(ENCRYPTED_WITH)) this.scope.ports.crypto.keyNamed(id);
  }

  /** The newest active PUBLIC key that can access no more assistants than the caller. */
  async public(caller: Caller): Promise<Key> {
    const assistantIds = caller.limits?.assistantIds;
    const rows = this.active("PUBLIC", assistantIds && { assistantIds });
    const [row] = await rows.orderBy(NEWEST_FIRST).limit(1);
    return this.toKey(row ?? withoutPublicKey(), caller);
  }

  /**
   * Creates a key. The result contains the full value, for every caller.
   * @throws BAD_USER_INPUT, ASSISTANT_NOT_FOUND; FORBIDDEN for limits wider than the caller's
   */
  async create(input: KeyInput, { caller, value }: KeyCreation = {}): Promise<Key> {
    const limits = await limitsFor(this.scope, input, caller);
    const type = input.type ?? "SECRET";
    const row = { id: newId(), type, status: input.status ?? "ACTIVE", name: input.name, ...limits };
    return this.store(row, value ?? newKeyValue(type));
  }

  /**
   * Stores a key of another service with its id and value. An existing one can only become inactive: an import must
   * not activate a key that was deactivated here.
   * @throws BAD_USER_INPUT, ASSISTANT_NOT_FOUND; CONFLICT if the id or the value is taken
   */
  async import(imported: ImportedKey, caller: Caller): Promise<Key> {
    const { id, status } = imported;
    const [stored] = await this.scope.table("api_keys").where({ id });
    if (!stored) return this.insertImported(imported);
    if (this.scope.ports.crypto.open(stored.sealedValue, this.context(id)) !== imported.value)
      throw takenKey(`The key ${quoted(id)} exists and has another value.`);
    const ends = status === "INACTIVE" && stored.status === "ACTIVE";
    return ends ? this.setStatus(id, "INACTIVE", caller) : this.toKey(stored, caller);
  }

  private async insertImported({ id, value, createdAt, ...input }: ImportedKey): Promise<Key> {
    const limits = await importedLimits(this.scope, value, input);
    const key = { id, type: input.type ?? "SECRET", status: input.status ?? "ACTIVE", name: input.name };
    const times = createdAt ? { createdAt } : {};
    return this.store({ ...key, ...limits, ...times }, value).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      throw takenKey("Another key of this server has this value already.");
    });
  }

  private store(row: Omit<New<"api_keys">, "sealedValue">, value: string): Promise<Key> {
    const { crypto } = this.scope.ports;
    return this.scope.transaction(async (scope) => {
      const [key] = await scope.insert("api_keys", {
        ...row,
        sealedValue: crypto.seal(value, this.context(row.id)),
      });
      await scope
        .shared("key_lookup")
        .insert({ lookup: crypto.lookup(value), keyId: row.id, organizationId: scope.organizationId });
      return { ...key!, value };
    });
  }

  async update(id: string, status: KeyStatus, caller: Caller): Promise<Key> {
    if (caller.limits) await this.byId(id, caller);
    return this.setStatus(id, status, caller);
  }

  private async setStatus(id: string, status: KeyStatus, caller: Caller): Promise<Key> {
    const row = await this.change(id, (scope) =>
      scope.table("api_keys").where({ id }).update({ status }).returning("*"),
    );
    if (status === "INACTIVE") await this.warnOfLockout(id, caller);
    return this.toKey(row, caller);
  }

  async remove(id: string, caller: Caller): Promise<{ id: string }> {
    if (caller.limits) await this.byId(id, caller);
    await this.change(id, async (scope) => {
      // The foreign key does the same, but not in a Citus cluster.
      await scope.shared("key_lookup").where({ organizationId: scope.organizationId, keyId: id }).delete();
      return scope.table("api_keys").where({ id }).delete().returning("*");
    });
    await this.warnOfLockout(id, caller);
    return { id };
  }

  private async change(id: string, write: (scope: Scope) => PromiseLike<KeyRow[]>): Promise<KeyRow> {
    const row = await this.scope.transaction(async (scope) => {
      const [changed] = await write(scope);
      await scope.notify(KEYS_CHANNEL, { keyId: id });
      return changed ?? missing("Key", id);
    });
    this.scope.ports.forgetKey(this.scope.organizationId, id);
    return row;
  }

  /** Warns if no key can create another, or if the caller's own key stops working. @param id of the key that was ended */
  private async warnOfLockout(id: string, caller: Caller): Promise<void> {
    const managing = this.active("SECRET").whereRaw(`(permissions is null or permissions @> '["keys"]')`);
    if ((await managing.limit(1)).length === 0)
      this.scope.warn(
        "The organization has no active SECRET key left that may manage keys. Create one with `npm run key:create` on the server.",
      );
    else if (caller.keyId === id)
      this.scope.warn(
        "This request was made with the key that it ended, or with a token of that key: both get 401 from now on. Use another SECRET key, which can create more by POST /rest/v1/organization/keys, or create one with `npm run key:create` on the server.",
      );
  }

  private toKey({ sealedValue, ...key }: KeyRow, caller: Caller): Key {
    const value = this.scope.ports.crypto.open(sealedValue, this.context(key.id));
    const isFull = key.type === "PUBLIC" || (caller.kind === "SECRET" && speaksForOrganization(caller));
    return { ...key, value: isFull ? value : masked(value) };
  }

  private context(id: string): string {
    return `${this.scope.organizationId}/api_keys/${id}`;
  }
}

function withoutPublicKey(): never {
  throw new DomainError(
    "KEY_NOT_FOUND",
    "The organization has no active PUBLIC key. Create one of type PUBLIC.",
  );
}

const takenKey = (message: string) => new DomainError("CONFLICT", message);
