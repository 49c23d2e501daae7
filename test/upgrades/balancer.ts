import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy in front of servers, as operators run one: it asks each server whether it is ready. */
export class Balancer {
  private readonly servers = new Map<string, boolean>();
  private turn = 0;
  private readonly proxy = createServer((req, res) => void this.pass(req, res));
  private isLooking = false;
  private readonly looking = setInterval(() => void this.look(), 100);

  async start(): Promise<string> {
    await once(this.proxy.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(this.proxy.address() as AddressInfo).port}`;
  }

  /** Adds a server that is ready. */
  add(url: string): void {
    this.servers.set(url, true);
  }

  remove(url: string): void {
    this.servers.delete(url);
  }

  stop(): void {
    clearInterval(this.looking);
    this.proxy.closeAllConnections();
    this.proxy.close();
  }

  private async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    await Promise.all([...this.servers.keys()].map((url) => this.lookAt(url)));
    this.isLooking = false;
  }

  private async lookAt(url: string): Promise<void> {
    const isReady = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (this.servers.has(url)) this.servers.set(url, isReady);
  }

  private async pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const ready = [...this.servers].filter(([, isReady]) => isReady).map(([url]) => url);
    const first = this.turn++;
    const order = ready.map((_, n) => ready[(first + n) % ready.length]!);
    this.send(order, req, Buffer.concat(chunks), res);
  }

  /** Sends to the next server if one takes no connections: it has not seen the request. */
  private send(
    [url, ...others]: readonly string[],
    req: IncomingMessage,
    body: Buffer,
    res: ServerResponse,
  ): void {
    if (url === undefined) return void res.writeHead(503, { "Retry-After": "1" }).end();
    const { method, headers } = req;
    const onward = request(url + req.url!, { method, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.on("error", () => res.destroy()).pipe(res);
    });
    onward.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") return this.send(others, req, body, res);
      if (res.headersSent) return void res.destroy();
      res.writeHead(502).end(String(error));
    });
    onward.end(body);
  }
}
