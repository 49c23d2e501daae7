// The process that reads one document: its bytes come on standard input, its type as the argument, and what it holds
// leaves as JSON on standard output. Whoever starts it gives it no environment and few rights (src/platform/providers/confined-process.ts).
import { setPriority } from "node:os";
import type { ReadableType } from "../ports/document-reader";
import { read } from "./read";

async function main(): Promise<void> {
  setPriority(10);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const reading = await read(process.argv[2] as ReadableType, Buffer.concat(chunks)); // given by our own process
  process.stdout.write(JSON.stringify(reading), () => process.exit(0));
}

void main();
