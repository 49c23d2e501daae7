// The process that reads one document: its bytes come on standard input, its type as the argument, and what it holds
// leaves as JSON on standard output. Whoever starts it gives it no environment and few rights (src/ports/child-reader.ts).
import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import type { ReadableType } from "../ports/document-reader";
import { read } from "./read";

const [type, mostBytes = "0"] = process.argv.slice(2);

// A document that unfolds does so outside of the heap that Node limits, in the thread that is then too busy to look.
const watch = `setInterval(() => { if (process.memoryUsage.rss() > ${Number(mostBytes)}) process.kill(process.pid, "SIGKILL") }, 10)`;
new Worker(watch, { eval: true }).unref();

async function main(): Promise<void> {
  setPriority(10);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const reading = await read(type as ReadableType, Buffer.concat(chunks)); // given by our own process
  process.stdout.write(JSON.stringify(reading), () => process.exit(0));
}

void main();
