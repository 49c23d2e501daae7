import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterTest } from "../support/server";

/** A failure of a request on its way to the service, or of the response. */
export type Fault =
  | "lost request"
  | "lost response"
  | "half response"
  | "late response"
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface Unreliable {
  readonly url: string;
  /** The requests that have arrived, in order. */
  readonly requests: { readonly method: string; readonly headers: IncomingMessage["headers"] }[];
}

/** A way to the service on which the first requests fail, one for each fault, and all others arrive. */
export async function unreliable(service: string, ...faults: Fault[]): Promise<Unreliable> {
  const requests: Unreliable["requests"] = [];
  const server = createServer((req, res) => {
    const fault = faults[requests.length];
    requests.push({ method: req.method!, headers: req.headers });
    if (fault === "lost request") return void req.destroy();
    if (typeof fault === "object") return void res.writeHead(fault.status, fault.headers).end(fault.body);
    forward(service, req, res, fault);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  afterTest(() => (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function forward(service: string, req: IncomingMessage, res: ServerResponse, fault: Fault | undefined): void {
  const onward = request(
    new URL(req.url!, service),
    { method: req.method, headers: req.headers },
    (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        if (fault === "late response") return;
        if (fault === "lost response") return void res.destroy();
        res.writeHead(answer.statusCode!, answer.headers);
        if (fault !== "half response") return void res.end(Buffer.concat(chunks));
        res.write(Buffer.concat(chunks).subarray(0, 10), () => res.destroy());
      });
    },
  );
  req.pipe(onward);
}
