import { Pool } from "undici";
import { HEADERS } from "./bench";

/** Changes the chat configurations of assistants, each over a connection of its own, so that they do not wait for each other. */
export class Patches {
  private readonly pool: Pool;
  private number = 0;

  constructor(
    url: string,
    private readonly ids: readonly string[],
  ) {
    this.pool = new Pool(url, { connections: ids.length, pipelining: 1 });
  }

  /**
   * @param body of a change; it gets another number each time
   * @returns changes per second
   */
  async rate(count: number, body: (n: number) => object): Promise<number> {
    const until = this.number + count;
    const began = performance.now();
    await Promise.all(
      this.ids.map(async (id) => {
        while (this.number < until) await this.send(id, body(this.number++));
      }),
    );
    return (count * 1_000) / (performance.now() - began);
  }

  async send(id: string, body: object): Promise<void> {
    const answer = await this.pool.request({
      method: "PATCH",
      path: `/rest/v1/assistants/${id}/chat`,
      headers: { ...HEADERS, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`PATCH: ${answer.statusCode} ${text}`);
  }

  stop(): Promise<void> {
    return this.pool.destroy();
  }
}
