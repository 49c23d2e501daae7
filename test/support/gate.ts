import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server in front of a provider. While it is closed, requests wait. */
export class Gate {
  /** Waiting requests, as `METHOD /path`. */
  readonly waiting: string[] = [];
  private isShut = false;
  private held: (() => void)[] = [];
  private readonly server = createServer((req, res) => this.take(req, res));

  constructor(private readonly target: () => string) {}

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  shut(): void {
    this.isShut = true;
  }

  open(): void {
    this.isShut = false;
    this.waiting.length = 0;
    for (const pass of this.held.splice(0)) pass();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private take(req: IncomingMessage, res: ServerResponse): void {
    if (!this.isShut) return this.pass(req, res);
    this.waiting.push(`${req.method} ${req.url}`);
    this.held.push(() => this.pass(req, res));
  }

  private pass(req: IncomingMessage, res: ServerResponse): void {
    const { method, headers } = req;
    const onward = request(new URL(req.url!, this.target()), { method, headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    });
    onward.on("error", () => res.destroy());
    req.pipe(onward);
  }
}
