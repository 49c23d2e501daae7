import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "../schema/core/context";
import type { Caller } from "../src/account/auth/caller";
import type { SendError } from "../src/http/send-error";
import type { Auth } from "./route";

/** A request and who sends it. */
export interface RestRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly auth: Auth;
  readonly caller: Caller | undefined;
}

/** An answer before it is written as JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly disclosed: Context["disclosed"];
}

/** A request that carries an Idempotency-Key. */
export interface Repeatable {
  readonly key: string;
  /** Everything that makes it the same request. */
  readonly content: unknown;
  /** Its work waits for HTTP. */
  readonly waits: boolean;
}

export type Work = (scope: Context["scope"]) => Promise<Answer>;

/** Everything that REST needs from the server that mounts it. */
export interface RestServer {
  readonly callers: {
    /** The caller of a request, rate limits applied. @throws UNAUTHENTICATED, RATE_LIMITED */
    authenticate(
      req: IncomingMessage,
      res: ServerResponse,
      headers?: Readonly<Record<string, unknown>>,
    ): Promise<Caller | undefined>;
    /** The caller of a request without a credential on the settings paths. @throws UNAUTHENTICATED, FORBIDDEN */
    anonymousSettings(req: IncomingMessage): Promise<Caller>;
  };
  /** The context of a request. @param scope the scope to use instead of a new one */
  readonly contextOf: (request: RestRequest, scope?: Context["scope"]) => Context;
  /** Does work once for a key; the secrets in an answer that is repeated are disclosed again. */
  readonly once: (
    context: Context,
    request: Repeatable,
    work: Work,
  ) => Promise<Omit<Answer, "disclosed"> & { readonly replayed: boolean }>;
  /** Handlers of the rows with `stream`, by that name. */
  readonly streams: Readonly<
    Record<string, (req: IncomingMessage, res: ServerResponse, body: unknown) => Promise<void>>
  >;
  readonly sendError: SendError;
  readonly maxFileBytes: number;
  /** Drops unknown fields of bodies instead of refusing them. */
  readonly lenient: boolean;
}
