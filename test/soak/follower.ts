import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { SECRET_KEY, type Installation } from "./installation";

const FOLLOW = "subscription ($after: ID) { organizationEvents(after: $after) { id } }";

/** Follows all events of the organization over WebSockets; after each break it resumes on another server. */
export class Follower {
  /** Ids of events in order of arrival. */
  readonly ids: string[] = [];
  breaks = 0;
  private stopped = false;
  private readonly loop: Promise<void>;
  private end: () => void = () => undefined;

  constructor(private readonly installation: Installation) {
    this.loop = this.follow();
  }

  /** Stops when all these events have arrived, or after `timeoutMs`. */
  async stopAfter(ids: readonly string[], timeoutMs: number): Promise<void> {
    const began = performance.now();
    const hasAll = () => {
      const seen = new Set(this.ids);
      return ids.every((id) => seen.has(id));
    };
    while (!hasAll() && performance.now() - began < timeoutMs) await sleep(200);
    this.stopped = true;
    this.end();
    await this.loop;
  }

  private async follow(): Promise<void> {
    for (let turn = 0; !this.stopped; turn++) {
      const { servers } = this.installation;
      await this.once(servers[turn % servers.length]!.url).catch(() => undefined);
      if (!this.stopped) this.breaks++;
      await sleep(200);
    }
  }

  private async once(url: string): Promise<void> {
    const client = createClient({
      url: `${url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { "X-API-Key": SECRET_KEY },
      retryAttempts: 0,
      keepAlive: 5_000,
      on: {
        // A server that hangs sends nothing, so a missing pong closes the connection.
        ping: (received) => received || (timer = setTimeout(() => client.terminate(), 5_000)),
        pong: (received) => void (received && clearTimeout(timer)),
      },
    });
    let timer: NodeJS.Timeout | undefined;
    this.end = () => void client.dispose();
    const variables = this.ids.length > 0 ? { after: this.ids.at(-1) } : {};
    try {
      for await (const { data } of client.iterate({ query: FOLLOW, variables }))
        if (data) this.ids.push((data as { organizationEvents: { id: string } }).organizationEvents.id);
    } finally {
      clearTimeout(timer);
      void client.dispose();
    }
  }
}
