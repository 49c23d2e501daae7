import type { ServerResponse } from "node:http";
import { currentTime } from "../../platform/clock";
import type { CutReason, ModelCall } from "../../platform/ports/text-model";

/** Writes a chat completion in the format of OpenAI's API: whole, or as a stream of chunks. */
export interface CompletionAnswer {
  text(text: string): void;
  /** Discards the text so far. Chunks that were already sent cannot be discarded. */
  withdraw(): void;
  call(call: ModelCall): void;
  /** Records why the answer ends early. */
  cut(reason: CutReason): void;
  end(): void;
}

export interface Head {
  readonly id: string;
  readonly model: string;
  readonly status: number;
}

const unixTime = () => Math.floor(currentTime() / 1_000);
const toolCall = ({ id, name, arguments: args }: ModelCall) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});

export const completionAnswer = (res: ServerResponse, head: Head, stream: boolean): CompletionAnswer =>
  stream ? streamingAnswer(res, head) : singleAnswer(res, head);

function streamingAnswer(res: ServerResponse, { id, model, status }: Head): CompletionAnswer {
  const at = unixTime();
  let hasStarted = false;
  let calls = 0;
  let finish: "stop" | CutReason = "stop";
  res.statusCode = status;
  res.setHeader("Content-Type", "text/event-stream; charset=utf-8");
  res.setHeader("Cache-Control", "no-cache");
  res.setHeader("X-Accel-Buffering", "no"); // keeps proxies from buffering
  const send = (delta: object, finish_reason: string | null = null) => {
    const choices = [
      { index: 0, delta: { ...(!hasStarted && { role: "assistant" }), ...delta }, finish_reason },
    ];
    hasStarted = true;
    if (!res.writableEnded && !res.destroyed)
      res.write(
        `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: at, model, choices })}\n\n`,
      );
  };
  return {
    text: (content) => send({ content }),
    withdraw: () => undefined,
    call: (call) => send({ tool_calls: [{ index: calls++, ...toolCall(call) }] }),
    cut: (reason) => void (finish = reason),
    end: () => {
      send({}, calls > 0 ? "tool_calls" : finish);
      res.end("data: [DONE]\n\n");
    },
  };
}

function singleAnswer(res: ServerResponse, { id, model, status }: Head): CompletionAnswer {
  let content = "";
  const calls: ModelCall[] = [];
  let finish: "stop" | CutReason = "stop";
  return {
    text: (text) => void (content += text),
    withdraw: () => void (content = ""),
    call: (call) => void calls.push(call),
    cut: (reason) => void (finish = reason),
    end: () => {
      const message = {
        role: "assistant",
        content: content === "" && calls.length > 0 ? null : content,
        ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
      };
      const choices = [{ index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : finish }];
      res.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
      res.end(JSON.stringify({ id, object: "chat.completion", created: unixTime(), model, choices }));
    },
  };
}
