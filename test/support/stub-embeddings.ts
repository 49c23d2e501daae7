import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Groups of words with the same meaning. The vector of a text counts its words of each group. */
const MEANINGS = [
  ["dog", "dogs", "hound", "hounds", "puppy"],
  ["park", "parking", "car", "cars", "vehicle"],
  ["price", "prices", "cost", "fee", "expensive"],
  ["open", "hours", "closing", "time"],
];

/** A request to the model. */
export interface EmbeddingsAsked {
  readonly model: string;
  readonly input: readonly string[];
  readonly key: string | undefined;
}

/** An HTTP server with OpenAI's embeddings API; a `status` other than 200 makes it refuse requests. */
export async function stubEmbeddings() {
  const asked: EmbeddingsAsked[] = [];
  const stub = { asked, status: 200, url: "", stop: () => Promise.resolve() };
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const { model, input } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as EmbeddingsAsked;
      asked.push({ model, input, key: req.headers.authorization?.replace("Bearer ", "") });
      const data = input.map((text, index) => ({ object: "embedding", index, embedding: meaning(text) }));
      res.writeHead(stub.status, { "content-type": "application/json" });
      res.end(
        JSON.stringify(stub.status === 200 ? { object: "list", data, model } : { error: { message: "no" } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  stub.stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return stub;
}

function meaning(text: string): number[] {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  return [...MEANINGS.map((group) => words.filter((word) => group.includes(word)).length), 0.1];
}
