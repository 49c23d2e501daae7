/** An answer of the assistant: text, and tools for the engine to use. */
export interface Completion {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

interface Delta {
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

/** Reads a streamed chat completion. @throws Error if the response is not one */
export async function readCompletion(answer: Response): Promise<Completion> {
  if (!answer.ok || !answer.body)
    throw new Error(`The model's address answered with status ${answer.status}.`);
  let text = "";
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  for await (const delta of deltas(answer.body)) {
    text += delta.content ?? "";
    for (const { index = 0, id, function: called } of delta.tool_calls ?? []) {
      const call = calls.get(index) ?? { id: "", name: "", arguments: "" };
      calls.set(index, {
        id: call.id || (id ?? ""),
        name: call.name || (called?.name ?? ""),
        arguments: call.arguments + (called?.arguments ?? ""),
      });
    }
  }
  return { text: text.trim(), calls: [...calls.values()] };
}

async function* deltas(body: ReadableStream<Uint8Array>): AsyncGenerator<Delta> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const data = /^data: (.*)$/.exec(line)?.[1];
      if (data === undefined || data === "[DONE]") continue;
      const { choices } = JSON.parse(data) as { choices: readonly { readonly delta: Delta }[] };
      if (choices[0]) yield choices[0].delta;
    }
  }
}
