import { createHmac } from "node:crypto";
import { randomText } from "../../platform/crypto";
import type { Scope } from "../../platform/database/scope";
import type { IdentifierKind, Person } from "./person";

/**
 * The key of an organization's digests: random, and stored sealed, so that digests stay comparable when ENCRYPTION_KEYS
 * change, and tell nothing to who has the database alone.
 */
export class DigestKey {
  constructor(private readonly scope: Scope) {}

  /** The key as it is stored, made when it is first asked for. */
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

/** Digests under a stored key of the scope's organization. */
export function digesting(scope: Scope, sealedKey: string): (person: Person) => string {
  const key = scope.ports.crypto.open(sealedKey, contextOf(scope));
  return ({ kind, value }) => createHmac("sha256", key).update(`${kind}:${value}`).digest("base64url");
}

/** An erasure as a backup carries it: who it was is known only by comparing. */
export interface ErasureDigest {
  readonly organizationId: string;
  readonly kind: IdentifierKind;
  readonly digest: string;
  /** The key of the digest, sealed under ENCRYPTION_KEYS. */
  readonly sealedKey: string;
  /** What began later is not erased: the person came back. ISO 8601 with microseconds, by the database's clock. */
  readonly until: string;
}

const contextOf = ({ organizationId }: Scope) => `${organizationId}/erasure`;
