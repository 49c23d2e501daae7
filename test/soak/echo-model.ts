import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Question {
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
}

/** An HTTP model whose answer quotes the question, so that duplicate answers can be detected. */
export class EchoModel {
  /** Reaction to the next requests. */
  mode: "answers" | "fails" | "hangs" = "answers";
  private readonly hanging = new Set<ServerResponse>();
  private readonly server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => this.answer(JSON.parse(Buffer.concat(chunks).toString("utf8")) as Question, res));
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Ends hanging requests, as a restart of the model would. */
  release(): void {
    this.mode = "answers";
    for (const res of this.hanging) res.destroy();
    this.hanging.clear();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer({ messages = [] }: Question, res: ServerResponse): void {
    if (this.mode === "hangs") return void this.hanging.add(res);
    if (this.mode === "fails")
      return void res
        .writeHead(500, { "content-type": "application/json" })
        .end('{"error":{"message":"The model is restarting."}}');
    const asked = messages.findLast(({ role }) => role === "user")?.content;
    res.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, finish_reason: string | null) =>
      res.write(
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "echo", choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
      );
    send({ role: "assistant", content: `answer to ${textOf(asked)}` }, null);
    send({}, "stop");
    res.end("data: [DONE]\n\n");
  }
}

/** The text of a message, whose content may have several parts. */
const textOf = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((part) => (part as { text?: string }).text ?? "").join("")
    : String(content);
