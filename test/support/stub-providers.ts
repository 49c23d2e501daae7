import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const event = (data: { readonly type?: string; readonly [field: string]: unknown }) =>
  `${data.type === undefined ? "" : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`;

const chunk = (delta: object, finish_reason: string | null) =>
  event({
    id: "1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  });
const OPENAI = `${chunk({ role: "assistant", content: "Hello." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;

const USAGE = { input_tokens: 1, output_tokens: 1 };
const NONE = { stop_reason: null, stop_sequence: null };
const ANTHROPIC = [
  {
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", model: "m", content: [], ...NONE, usage: USAGE },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: USAGE },
  { type: "message_stop" },
]
  .map(event)
  .join("");

/**
 * A server with the protocols of all providers, and the version of Ollama, that greets whoever sends the key.
 * @param key the accepted key; undefined if none is needed
 */
export async function stubProviders(key?: string) {
  const keys: (string | undefined)[] = [];
  const keyOf = ({ headers }: IncomingMessage) =>
    (headers["x-api-key"] as string | undefined) ?? headers.authorization?.replace("Bearer ", "");
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    const json = (status: number, body: object) =>
      res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    req.resume();
    if (req.url === "/api/version") return json(200, { version: "0.12.0" });
    if (key !== undefined && keyOf(req) !== key)
      return json(401, {
        type: "error",
        error: { type: "authentication_error", message: "Incorrect API key", code: "invalid_api_key" },
      });
    if (req.method === "GET") return json(200, { data: [{ id: "llama3.2" }, { id: "qwen3" }] });
    keys.push(keyOf(req));
    res.writeHead(200, { "content-type": "text/event-stream" });
    return res.end(req.url!.endsWith("/messages") ? ANTHROPIC : OPENAI);
  };
  const server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** Keys of the answered requests. */
    keys,
    address,
    url: `http://${address}/v1`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
