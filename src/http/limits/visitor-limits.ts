import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../../account/auth/caller";
import type { SourceOf } from "./client-address";
import type { LimitExchange } from "./limit-exchange";
import { count, visitorOf } from "./limits";
import type { SharedLimit } from "./shared-limit";

/** Cost of each action of a visitor, in points. */
const POINTS = { message: 1, chat: 3, session: 3 } as const;
/** Number of visitors whose limit one address may use up. */
const VISITORS_PER_ADDRESS = 10;
const WINDOW_SECONDS = 60;

/** Limits visitors of web pages in all servers: messages and chats per visitor, and the sum per address. */
export class VisitorLimits {
  private readonly visitor: SharedLimit;
  private readonly address: SharedLimit;

  constructor(
    messages: number,
    private readonly sourceOf: SourceOf,
    exchange: Pick<LimitExchange, "limit">,
  ) {
    this.visitor = exchange.limit("visitor", messages, WINDOW_SECONDS);
    this.address = exchange.limit("address", messages * VISITORS_PER_ADDRESS, WINDOW_SECONDS);
  }

  /** Counts an action; clients on loopback are counted only if the settings say so. @throws RATE_LIMITED */
  spend(
    req: IncomingMessage,
    res: ServerResponse,
    caller: Caller | undefined,
    action: keyof typeof POINTS,
  ): void {
    const source = this.sourceOf(req);
    if (source === undefined) return;
    count(res, "address", this.address, source, POINTS[action]);
    const visitor = caller?.visitor;
    if (visitor) count(res, "visitor", this.visitor, visitorOf(visitor), POINTS[action]);
  }
}
