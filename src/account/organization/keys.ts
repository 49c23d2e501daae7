import { connectionByAge, type Connection, type ConnectionQuery } from "../../platform/database/connection";
import { speaksForOrganization, type Caller } from "../auth/caller";
import { KEYS_CHANNEL } from "../auth/credentials";
import { masked, newKeyValue, type KeyType } from "../auth/keys";
import { isWithin, type LimitColumns, type Permission } from "../auth/limits";
import { newId } from "../../platform/database/ids";
import { rowById } from "../../platform/database/row-by-id";
import { NEWEST_FIRST } from "../../platform/database/order";
import type { Scope } from "../../platform/database/scope";
import { DomainError, missing } from "../../platform/errors";
import { limitsFor } from "./key-limits";

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

/** The creator of a key, undefined for the operator; and its value, generated if undefined. */
interface KeyCreation {
  readonly caller?: Caller;
  readonly value?: string;
}

type KeyRow = Omit<Key, "value"> & { readonly sealedValue: string };

/**
 * The keys of an organization. Only a SECRET key sees full values of SECRET keys. Keys that grant more than the caller's
 * limits are hidden from the caller.
 */
export class Keys {
  constructor(private readonly scope: Scope) {}

  async list(caller: Caller): Promise<Key[]> {
    const rows = await this.scope.table("api_keys").orderBy(NEWEST_FIRST);
    return rows.filter((row) => isWithin(row, caller.limits)).map((row) => this.toKey(row, caller));
  }

  /** The same by creation, as a connection. */
  async connection(query: ConnectionQuery, caller: Caller): Promise<Connection<Key>> {
    const rows = this.scope.table("api_keys");
    for (const name of ["permissions", "assistantIds"] as const) {
      const all = caller.limits?.[name];
      if (all) rows.whereRaw("?? <@ ?::jsonb", [name, JSON.stringify(all)]);
    }
    return connectionByAge({ rows, map: (row) => this.toKey(row, caller) }, query);
  }

  async byId(id: string, caller: Caller): Promise<Key> {
    const row = await rowById(this.scope, "api_keys", id);
    return this.toKey(row && isWithin(row, caller.limits) ? row : missing("Key", id), caller);
  }

  /** Decrypts all keys. @throws Error if ENCRYPTION_KEYS lacks a key that was used */
  async check(): Promise<void> {
    const rows = await this.scope.table("api_keys");
    for (const { id, sealedValue } of rows) this.scope.ports.crypto.open(sealedValue, this.context(id));
  }

  /** The newest active PUBLIC key that can access no more assistants than the caller. */
  async public(caller: Caller): Promise<Key> {
    const rows = await this.scope
      .table("api_keys")
      .where({ type: "PUBLIC", status: "ACTIVE" })
      .whereRaw("(expires_at is null or expires_at > now())")
      .orderBy(NEWEST_FIRST);
    const assistantIds = caller.limits?.assistantIds;
    const row = rows.find((row) => isWithin(row, assistantIds && { assistantIds }));
    return this.toKey(row ?? withoutPublicKey(), caller);
  }

  /**
   * Creates a key. The result contains the full value, for every caller.
   * @throws BAD_USER_INPUT, ASSISTANT_NOT_FOUND; FORBIDDEN for limits wider than the caller's
   */
  async create(input: KeyInput, { caller, value }: KeyCreation = {}): Promise<Key> {
    const { crypto } = this.scope.ports;
    const limits = await limitsFor(this.scope, input, caller);
    const id = newId();
    const type = input.type ?? "SECRET";
    const plain = value ?? newKeyValue(type);
    return this.scope.transaction(async (scope) => {
      const sealedValue = crypto.seal(plain, this.context(id));
      const row = { id, type, status: input.status ?? "ACTIVE", sealedValue, name: input.name, ...limits };
      const [key] = await scope.insert("api_keys", row);
      await scope
        .shared("key_lookup")
        .insert({ lookup: crypto.lookup(plain), keyId: id, organizationId: scope.organizationId });
      return { ...key!, value: plain };
    });
  }

  async update(id: string, status: KeyStatus, caller: Caller): Promise<Key> {
    if (caller.limits) await this.byId(id, caller);
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
    this.scope.ports.forgetKey(id);
    return row;
  }

  /** Warns if no key can create another, or if the caller's own key stops working. @param id of the key that was ended */
  private async warnOfLockout(id: string, caller: Caller): Promise<void> {
    const active = await this.scope
      .table("api_keys")
      .where({ type: "SECRET", status: "ACTIVE" })
      .whereRaw("(expires_at is null or expires_at > now())");
    if (!active.some(({ permissions }) => permissions === null || permissions.includes("keys")))
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
