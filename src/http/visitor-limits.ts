import type { IncomingMessage, ServerResponse } from "node:http";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Caller } from "../account/auth/caller";
import type { SourceOf } from "./client-address";
import { count, visitorOf } from "./limits";

/** What each thing that a visitor does counts as. */
const POINTS = { message: 1, chat: 3, session: 3 } as const;
/** How many visitors one address may stand for. */
const VISITORS = 10;
const MINUTE = 60;

/** Counts what visitors of web pages do in this process: a visitor's messages and chats, and all that comes from one address. */
export class VisitorLimits {
  private readonly visitor: RateLimiterMemory;
  private readonly address: RateLimiterMemory;

  constructor(
    messages: number,
    private readonly sourceOf: SourceOf,
  ) {
    this.visitor = new RateLimiterMemory({ points: messages, duration: MINUTE });
    this.address = new RateLimiterMemory({ points: messages * VISITORS, duration: MINUTE });
  }

  /** Counts what is done; callers on loopback are counted only where the settings say so. @throws RATE_LIMITED */
  async spend(
    req: IncomingMessage,
    res: ServerResponse,
    caller: Caller | undefined,
    what: keyof typeof POINTS,
  ): Promise<void> {
    const source = this.sourceOf(req);
    if (source === undefined) return;
    await count(res, "address", this.address, source, POINTS[what]);
    const visitor = caller?.visitor;
    if (visitor) await count(res, "visitor", this.visitor, visitorOf(visitor), POINTS[what]);
  }
}
