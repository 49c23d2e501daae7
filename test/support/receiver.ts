import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./until";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** The body, byte for byte. */
  readonly text: string;
  readonly body: Record<string, unknown>;
  readonly at: number;
}

type Reply = (res: ServerResponse, received: ReceivedRequest, number: number) => void;

/** A real HTTP server that records its requests; `reply` determines its answers. */
export class Receiver {
  readonly received: ReceivedRequest[] = [];
  private readonly server: Server;

  constructor(private reply: Reply = (res) => void res.end("ok")) {
    this.server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on("data", (chunk: Buffer) => chunks.push(chunk));
      req.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const received = {
          path: req.url!, // a request of a client has one
          headers: req.headers,
          text,
          body: JSON.parse(text || "{}") as Record<string, unknown>,
          at: Date.now(),
        };
        this.received.push(received);
        this.reply(res, received, this.received.length);
      });
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  answer(reply: Reply): void {
    this.reply = reply;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** Resolves when at least `count` matching requests have arrived. */
  async until(
    count: number,
    fits: (received: ReceivedRequest) => boolean = () => true,
    limit?: number,
  ): Promise<ReceivedRequest[]> {
    const fitting = () => this.received.filter(fits);
    await until(() => fitting().length >= count, limit).catch((cause: unknown) => {
      throw new Error(`waited for ${count}, got ${fitting().length} of ${this.received.length}`, { cause });
    });
    return fitting();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
