import type { Disclosure } from "../../src/account/audit/disclosures";
import type { Origin } from "../../src/account/audit/note";
import type { Caller } from "../../src/account/auth/caller";
import type { Database } from "../../src/platform/database/database";
import type { Scope } from "../../src/platform/database/scope";

/** Actions of a visitor that are rate-limited. */
export type VisitorAction = "session" | "chat" | "message";

/** The request as resolvers see it: the caller, access to the data of their organization, and limits. */
export interface Context {
  readonly caller: Caller | undefined;
  /** Access to the data of the caller's organization. Guards refuse anonymous callers before a resolver runs. */
  readonly scope: Scope;
  /** Creates a scope on the same organization, for streams that outlive one read. */
  readonly fresh: () => Scope;
  readonly requestId: string;
  /** Origin of the request, for the audit log. */
  readonly source: Origin;
  /** Secrets that the response discloses. */
  readonly disclosed: Disclosure[];
  /** Value of the Origin header, sent by pages of other sites. */
  readonly origin: string | undefined;
  /** Counts an action of a visitor against its limit. @throws RATE_LIMITED */
  readonly spend: (action: VisitorAction) => void;
  /** Id that all attempts of a request with an Idempotency-Key share, if its work waits for HTTP. */
  readonly attemptId: string | undefined;
  /** The header Idempotency-Key of a request to GraphQL. */
  readonly idempotencyKey: string | undefined;
  /** Disconnects a subscriber that reads too slowly and has too many events queued. */
  readonly tooSlow: () => void;
}

export interface ContextOptions extends Partial<
  Pick<Context, "origin" | "spend" | "attemptId" | "idempotencyKey" | "tooSlow">
> {
  readonly requestId: string;
  /** Default: GRAPHQL. */
  readonly interface?: Origin["interface"];
  /** IP address of the client. */
  readonly address?: string;
  /** Scope with an open transaction, to use instead of a new one. */
  readonly scope?: Scope;
}

const unlimited = () => undefined;

/**
 * Creates the context of a request. Without a caller, the scope belongs to no organization and finds nothing, even if a
 * guard should fail.
 */
export function makeContext(
  database: Database,
  caller: Caller | undefined,
  { scope, origin, spend = unlimited, requestId, interface: by = "GRAPHQL", ...rest }: ContextOptions,
): Context {
  const { address, attemptId, idempotencyKey, tooSlow = () => undefined } = rest;
  const fresh = () => database.scope(caller?.organizationId ?? "", caller?.limits?.assistantIds);
  const source = { requestId, interface: by, address };
  return {
    ...{ caller, scope: scope ?? fresh(), fresh, requestId, source, origin },
    ...{ spend, tooSlow, attemptId, idempotencyKey, disclosed: [] },
  };
}
