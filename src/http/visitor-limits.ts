import type { IncomingMessage, ServerResponse } from "node:http";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Caller } from "../account/auth/caller";
import type { SourceOf } from "./client-address";
import { count, visitorOf } from "./limits";

/** Cost of each action of a visitor, in points. */
const POINTS = { message: 1, chat: 3, session: 3 } as const;
/** Number of visitors whose limit one address may use up. */
const VISITORS_PER_ADDRESS = 10;
const WINDOW_SECONDS = 60;

/** Limits visitors of web pages in this process: messages and chats per visitor, and the sum per address. */
export class VisitorLimits {
  private readonly visitor: RateLimiterMemory;
  private readonly address: RateLimiterMemory;

  constructor(
    messages: number,
    private readonly sourceOf: SourceOf,
  ) {
    this.visitor = new RateLimiterMemory({ points: messages, duration: WINDOW_SECONDS });
    this.address = new RateLimiterMemory({
      points: messages * VISITORS_PER_ADDRESS,
      duration: WINDOW_SECONDS,
    });
  }

  /** Counts an action; clients on loopback are counted only if the settings say so. @throws RATE_LIMITED */
  async spend(
    req: IncomingMessage,
    res: ServerResponse,
    caller: Caller | undefined,
    action: keyof typeof POINTS,
  ): Promise<void> {
    const source = this.sourceOf(req);
    if (source === undefined) return;
    await count(res, "address", this.address, source, POINTS[action]);
    const visitor = caller?.visitor;
    if (visitor) await count(res, "visitor", this.visitor, visitorOf(visitor), POINTS[action]);
  }
}
