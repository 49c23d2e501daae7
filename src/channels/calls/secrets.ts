import { randomBytes } from "node:crypto";
import { sameText } from "../../platform/crypto";
import type { Scope } from "../../platform/database/scope";

/** Creates the secret that authenticates the callbacks of one call: 128 random bits. */
export const newCallSecret = (): string => randomBytes(16).toString("hex");

/** Whether the secret is the common one for all calls; false if none is configured. */
export const isCommonSecret = ({ ports }: Scope, presented: string | undefined): boolean => {
  const { secret } = ports.voice;
  return secret !== undefined && presented !== undefined && sameText(presented, secret);
};

/** Keys to find a call by: its secret, our id, the engine's id. */
const LOOKUP_PREFIXES = { secret: "secret", call: "call", engine: "engine" } as const;

/** @param keyed the keyed hash of the secret, or an id as is */
export const lookupOf = (by: keyof typeof LOOKUP_PREFIXES, keyed: string): string =>
  `${LOOKUP_PREFIXES[by]}:${keyed}`;

const contextOf = ({ organizationId }: Scope, chatId: string) => `${organizationId}/calls/${chatId}`;

export const sealSecret = (scope: Scope, chatId: string, secret: string): string =>
  scope.ports.crypto.seal(secret, contextOf(scope, chatId));
export const openSecret = (scope: Scope, chatId: string, sealed: string): string =>
  scope.ports.crypto.open(sealed, contextOf(scope, chatId));

/** Stores keys to find a call by. Runs in a transaction. */
export async function storeLookups(scope: Scope, chatId: string, lookups: readonly string[]): Promise<void> {
  const { organizationId } = scope;
  const rows = lookups.map((lookup) => ({ lookup, organizationId, chatId }));
  await scope.shared("call_lookup").insert(rows).onConflict("lookup").ignore();
}
