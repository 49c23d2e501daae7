import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "../schema/core/context";
import type { Caller } from "../src/account/auth/caller";
import type { SendError } from "../src/http/errors/send-error";
import type { Auth } from "./route";

/** A request and its caller. */
export interface RestRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly auth: Auth;
  readonly caller: Caller | undefined;
}

/** A response before it is written as JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly disclosed: Context["disclosed"];
}

/** A request with an Idempotency-Key. */
export interface IdempotentRequest {
  readonly key: string;
  /** Everything that identifies the same request. */
  readonly content: unknown;
  /** Whether the work waits for external HTTP requests. */
  readonly waits: boolean;
}

/** @param attemptId an id that all attempts of a request with an Idempotency-Key share */
export type Work = (scope: Context["scope"], attemptId?: string) => Promise<Answer>;

/** The services that REST needs from the server. */
export interface RestServer {
  /** Answers a request when few others are under way. */
  readonly limited: (answer: () => Promise<void>) => Promise<void>;
  /** Runs an operation of some cost when few other large ones are under way. */
  readonly largeLimited: <R>(cost: number, work: () => Promise<R>) => Promise<R>;
  readonly callers: {
    /** Authenticates a request and applies rate limits. @throws UNAUTHENTICATED, RATE_LIMITED */
    authenticate(
      req: IncomingMessage,
      res: ServerResponse,
      headers?: Readonly<Record<string, unknown>>,
    ): Promise<Caller | undefined>;
    /** The caller for a settings request without a credential. @throws UNAUTHENTICATED, FORBIDDEN */
    anonymousSettings(req: IncomingMessage): Promise<Caller>;
  };
  /** Creates the context of a request. @param scope the scope to use instead of a new one */
  readonly contextOf: (request: RestRequest, scope?: Context["scope"], attemptId?: string) => Context;
  /** Runs work once per key; a repeated answer discloses its secrets again. */
  readonly once: (
    context: Context,
    request: IdempotentRequest,
    work: Work,
  ) => Promise<
    Omit<Answer, "disclosed"> & {
      readonly disclosed: readonly unknown[];
      readonly replayed: boolean;
    }
  >;
  /** Handlers of the routes with `stream`, by name. */
  readonly streams: Readonly<
    Record<string, (req: IncomingMessage, res: ServerResponse, body: unknown) => Promise<void>>
  >;
  readonly sendError: SendError;
  readonly maxFileBytes: number;
  /** Drops unknown fields of bodies instead of refusing them. */
  readonly lenient: boolean;
}
