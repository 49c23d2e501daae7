import { createHmac } from "node:crypto";
import { randomText } from "../../platform/crypto";
import type { Scope } from "../../platform/database/scope";
import type { IdentifierKind, Person } from "./person";

/**
 * The key of an organization's digests: random and stored encrypted, so that digests stay comparable when
 * ENCRYPTION_KEYS change, and reveal nothing to readers of the database alone.
 */
export class DigestKey {
  constructor(private readonly scope: Scope) {}

  /** The encrypted key, created on first use. */
  async sealed(): Promise<string> {
    const { organizationId: id, ports } = this.scope;
    const organizations = () => this.scope.shared("organizations").where({ id });
    const [row] = await organizations().select("sealedErasureKey");
    if (row?.sealedErasureKey) return row.sealedErasureKey;
    const sealedErasureKey = ports.crypto.seal(randomText(32), contextOf(this.scope));
    await organizations().whereNull("sealedErasureKey").update({ sealedErasureKey });
    return this.sealed();
  }

  async digest(person: Person): Promise<string> {
    return digesting(this.scope, await this.sealed())(person);
  }
}

/** Returns a digest function with an encrypted key of the scope's organization. */
export function digesting(scope: Scope, sealedKey: string): (person: Person) => string {
  const key = scope.ports.crypto.open(sealedKey, contextOf(scope));
  return ({ kind, value }) => createHmac("sha256", key).update(`${kind}:${value}`).digest("base64url");
}

/** An erasure in a backup; the person can only be found by comparing digests. */
export interface ErasureDigest {
  readonly organizationId: string;
  readonly kind: IdentifierKind;
  readonly digest: string;
  /** The digest key, encrypted with ENCRYPTION_KEYS. */
  readonly sealedKey: string;
  /**
   * Chats that started later are not erased, because the person came back. ISO 8601 with microseconds, by the
   * database's clock.
   */
  readonly until: string;
}

const contextOf = ({ organizationId }: Scope) => `${organizationId}/erasure`;
