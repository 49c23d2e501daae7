import type { Socket } from "node:net";
import type pg from "pg";

/** Parts of a connection that the types of pg lack. */
interface Inside {
  readonly connection: { readonly stream: Socket };
  readonly readyForQuery: boolean;
}

export class Silence {
  /** Time without a byte after which a connection is asked whether it works, and after which it is given up, in ms. Tests lower it. */
  static limitMs = 10_000;

  /**
   * Closes a connection that no longer works although nobody has closed it, as when a firewall has forgotten it or the
   * host of the database is gone. One that listens or waits for an answer would not notice for hours. A statement may take
   * twice the limit.
   */
  static end(client: pg.ClientBase): void {
    const inside = client as unknown as Inside;
    const { stream } = inside.connection;
    let isAsked = false;
    stream.on("data", () => (isAsked = false));
    stream.on("timeout", () => {
      if (isAsked) return void stream.destroy();
      isAsked = true;
      stream.setTimeout(Silence.limitMs);
      if (inside.readyForQuery) client.query("select").catch(() => undefined);
    });
    stream.setTimeout(Silence.limitMs);
  }
}
