import type { Caller } from "../src/auth/caller";
import type { Database } from "../src/database/database";
import type { Scope } from "../src/database/scope";

/** What every resolver gets: who asks, the door to their data, and whether their credential still stands. */
export interface Context {
  readonly caller: Caller | undefined;
  /** The caller's organization. Guards refuse a caller without credential before a resolver sees it. */
  readonly scope: Scope;
  /** A new scope on the same organization, for streams that outlive one reading. */
  readonly fresh: () => Scope;
  readonly requestId: string;
}

export interface ContextOptions {
  readonly requestId: string;
  /** A scope to use instead of a new one: one whose transaction is open. */
  readonly scope?: Scope;
}

/** Without a caller the scope is bound to no organization: it finds nothing, even if a guard should fail. */
export function makeContext(
  database: Database,
  caller: Caller | undefined,
  { scope, ...rest }: ContextOptions,
): Context {
  const fresh = () => database.scope(caller?.organizationId ?? "");
  return { caller, scope: scope ?? fresh(), fresh, ...rest };
}
