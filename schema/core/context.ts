import type { Disclosure } from "../../src/account/audit/disclosures";
import type { Origin } from "../../src/account/audit/note";
import type { Caller } from "../../src/account/auth/caller";
import type { Database } from "../../src/platform/database/database";
import type { Scope } from "../../src/platform/database/scope";

/** What a visitor of a web page may do only so often. */
export type Limited = "session" | "chat" | "message";

/** What every resolver gets: who asks, the door to their data, and whether their credential still stands. */
export interface Context {
  readonly caller: Caller | undefined;
  /** The caller's organization. Guards refuse a caller without credential before a resolver sees it. */
  readonly scope: Scope;
  /** A new scope on the same organization, for streams that outlive one reading. */
  readonly fresh: () => Scope;
  readonly requestId: string;
  /** Where the request came from, for the audit log. */
  readonly source: Origin;
  /** Secrets in the answer. */
  readonly disclosed: Disclosure[];
  /** Of another site's page that asks. */
  readonly origin: string | undefined;
  /** Counts what a visitor does. @throws RATE_LIMITED */
  readonly spend: (what: Limited) => Promise<void>;
  /** Gives up on a subscriber for whom too much is waiting. */
  readonly tooSlow: () => void;
}

export interface ContextOptions extends Partial<Pick<Context, "origin" | "spend" | "tooSlow">> {
  readonly requestId: string;
  /** GRAPHQL without it. */
  readonly interface?: Origin["interface"];
  /** Of the client. */
  readonly address?: string;
  /** A scope to use instead of a new one: one whose transaction is open. */
  readonly scope?: Scope;
}

const unlimited = () => Promise.resolve();

/** Without a caller the scope is bound to no organization: it finds nothing, even if a guard should fail. */
export function makeContext(
  database: Database,
  caller: Caller | undefined,
  { scope, origin, spend = unlimited, requestId, interface: by = "GRAPHQL", ...rest }: ContextOptions,
): Context {
  const { address, tooSlow = () => undefined } = rest;
  const fresh = () => database.scope(caller?.organizationId ?? "", caller?.limits?.assistantIds);
  const source = { requestId, interface: by, address };
  return { caller, scope: scope ?? fresh(), fresh, origin, spend, tooSlow, requestId, source, disclosed: [] };
}
