import { randomBytes } from "node:crypto";
import { sameText } from "../../platform/crypto";
import type { Scope } from "../../platform/database/scope";

/** The secret that an engine proves itself with in the callbacks of one call: 128 random bits. */
export const newCallSecret = (): string => randomBytes(16).toString("hex");

/** Whether it is the one secret that stands for all calls; there need not be one. */
export const isCommonSecret = ({ ports }: Scope, presented: string | undefined): boolean => {
  const { secret } = ports.voice;
  return secret !== undefined && presented !== undefined && sameText(presented, secret);
};

/** What a call is found under: its secret, our id of it, the engine's. */
export const BY = { secret: "secret", call: "call", engine: "engine" } as const;

/** @param keyed the secret's keyed hash, or an id as it is */
export const lookupOf = (by: keyof typeof BY, keyed: string): string => `${BY[by]}:${keyed}`;

const contextOf = ({ organizationId }: Scope, chatId: string) => `${organizationId}/calls/${chatId}`;

export const sealSecret = (scope: Scope, chatId: string, secret: string): string =>
  scope.ports.crypto.seal(secret, contextOf(scope, chatId));
export const openSecret = (scope: Scope, chatId: string, sealed: string): string =>
  scope.ports.crypto.open(sealed, contextOf(scope, chatId));

/** Makes a call findable, in a transaction. */
export async function remember(scope: Scope, chatId: string, lookups: readonly string[]): Promise<void> {
  const { organizationId } = scope;
  const rows = lookups.map((lookup) => ({ lookup, organizationId, chatId }));
  await scope.shared("call_lookup").insert(rows).onConflict("lookup").ignore();
}
