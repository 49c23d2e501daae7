// Main program of the process that reads one document. It gets the content on standard input and the media type as its
// argument, and writes a ReadResult as JSON to standard output. src/platform/providers/confined-process.ts starts it
// without environment variables and with few permissions.
import { setPriority } from "node:os";
import type { ReadableType } from "../ports/document-reader";
import { read } from "./read";

async function main(): Promise<void> {
  setPriority(10);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const result = await read(process.argv[2] as ReadableType, Buffer.concat(chunks)); // passed by our own server
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
}

void main();
