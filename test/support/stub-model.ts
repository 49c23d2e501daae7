import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A request to the model, in the format of chat completions. */
export interface ModelAsked {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: unknown;
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly description?: string } }[];
  readonly temperature?: number;
  readonly max_tokens?: number;
}

/**
 * Answer of the stub: text in pieces, possibly with the last one delayed until a promise settles; a function call; a
 * status; an incomplete stream; or other content.
 */
export type Reply =
  /** `after` is a delay in ms. */
  | { readonly text: readonly string[]; readonly after?: number }
  | { readonly call: string; readonly arguments: string }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly error?: object }
  /** Breaks off once `seen` settles; default: after 300 ms. */
  | { readonly half: string; readonly seen?: Promise<unknown> }
  | { readonly text: readonly string[]; readonly held: Promise<unknown> }
  | { readonly garbage: string };

/** A reply, or a function that makes it for a request. */
type AnyReply = Reply | ((asked: ModelAsked) => Reply);

/**
 * An HTTP server with OpenAI's streamed chat completions. It sends its replies in order and repeats the last one. It
 * refuses what OpenAI refuses, and does not count refused requests.
 */
export async function stubModel(...replies: AnyReply[]) {
  const asked: ModelAsked[] = [];
  const keys: (string | undefined)[] = [];
  const traceparents: unknown[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      if (body === "") return void res.writeHead(400).end(); // meant for an earlier server with this port
      const question = JSON.parse(body) as ModelAsked;
      if (!isPaired(question))
        return void res.writeHead(400).end('{"error":{"message":"tool_calls unanswered"}}');
      asked.push(question);
      keys.push(req.headers.authorization);
      traceparents.push(req.headers.traceparent);
      const next = replies[Math.min(asked.length, replies.length) - 1]!;
      const reply = typeof next === "function" ? next(question) : next;
      if ("after" in reply) setTimeout(() => answer(res, reply), reply.after);
      else answer(res, reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    /** Authorization header of each request. */
    keys,
    /** Header of each request that names its trace and span. */
    traceparents,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether each function call is followed by its answer, and answers occur nowhere else. */
function isPaired({ messages = [] }: Partial<ModelAsked>): boolean {
  let open: string[] = [];
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === "tool" ? !open.includes(id!) : open.length > 0) return false;
    open = role === "tool" ? open.filter((one) => one !== id) : calls.map((call) => call.id);
  }
  return open.length === 0;
}

function answer(res: ServerResponse, reply: Reply): void {
  if ("status" in reply)
    return void res
      .writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
      .end(JSON.stringify({ error: reply.error ?? { message: "no" } }));
  res.writeHead(200, { "content-type": "text/event-stream" });
  if ("garbage" in reply) return void res.end(reply.garbage);
  const send = (delta: object, finish: string | null = null) =>
    res.write(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "stub", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  if ("half" in reply) {
    send({ role: "assistant", content: reply.half });
    return void (reply.seen ?? sleep(300)).then(() => res.destroy());
  }
  if ("held" in reply) {
    for (const content of reply.text.slice(0, -1)) send({ content });
    return void reply.held.then(() => {
      send({ content: reply.text.at(-1) }, "stop");
      res.end("data: [DONE]\n\n");
    });
  }
  if ("text" in reply) for (const content of reply.text) send({ content });
  else
    send({
      tool_calls: [
        {
          index: 0,
          id: `call_${Math.random()}`,
          type: "function",
          function: { name: reply.call, arguments: reply.arguments },
        },
      ],
    });
  send({}, "text" in reply ? "stop" : "tool_calls");
  res.end("data: [DONE]\n\n");
}
