import { totalmem } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { memoryExceeded, startConfined, type ConfinedProcess } from "./confined-process";
import { ROOT } from "../root";
import type { DocumentReader, ReadResult } from "../ports/document-reader";

export interface ReaderLimits {
  /** Wall time. */
  readonly timeMs: number;
  /** Resident memory. */
  readonly memoryBytes: number;
  /** Output of the process. */
  readonly outputBytes: number;
}

const MIB = 1_048_576;
const LIMITS = { timeMs: 60_000, outputBytes: 32 * MIB };
const MAX_MEMORY_BYTES = 768 * MIB;

/**
 * Limit for the memory of a process that reads, in bytes: the server and an embedded database need the other half.
 * @param machine memory of the machine
 * @param container memory of the container; 0 or more than that of the machine if it has no limit
 */
export function readerMemory(machine = totalmem(), container = process.constrainedMemory()): number {
  return Math.min(MAX_MEMORY_BYTES, Math.floor(Math.min(machine, container || machine) / 2));
}

/** The compiled program, because this file may itself run as TypeScript. */
const PROGRAM = join(ROOT, "dist/src/platform/reader/main.js");

/** Exit and output of a process. */
interface ProcessResult {
  readonly code: number | null;
  readonly output: string;
  readonly stopped?: "time" | "memory" | "output";
}

/** Reads each document in its own confined process, with limits for time, memory and output. */
export function childReader(limits: Partial<ReaderLimits> = {}): DocumentReader {
  const all = { ...LIMITS, memoryBytes: readerMemory(), ...limits };
  return {
    async read(type, content) {
      const child = startConfined([PROGRAM, type], all.memoryBytes);
      const [result] = await Promise.all([waitForEnd(child, all), feed(child, content)]);
      return readResult(result, all);
    },
  };
}

/** Writes the document to the process. If the process has ended, its exit explains why. @throws Error if `content` breaks off */
async function feed(child: ConfinedProcess, content: Readable): Promise<void> {
  child.stdin.on("error", () => undefined);
  try {
    for await (const chunk of content) {
      if (child.stdin.destroyed || child.exitCode !== null || child.signalCode !== null) return;
      if (!child.stdin.write(chunk)) await untilDrained(child);
    }
    child.stdin.end();
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

const untilDrained = (child: ConfinedProcess): Promise<void> =>
  new Promise((resolve) => {
    child.stdin.once("drain", resolve).once("close", resolve);
    child.once("close", resolve);
  });

/** Waits for the process to end, and kills it if it exceeds a limit. @throws Error if it did not start */
function waitForEnd(child: ConfinedProcess, limits: ReaderLimits): Promise<ProcessResult> {
  return new Promise((resolve, reject) => {
    let stopped: ProcessResult["stopped"];
    const stop = (limit: ProcessResult["stopped"]) => {
      stopped ??= limit;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(() => stop("time"), limits.timeMs);
    void memoryExceeded(child, limits.memoryBytes).then(() => stop("memory"));
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.outputBytes) stop("output");
      else chunks.push(chunk);
    });
    child.once("error", (error) => (clearTimeout(timer), reject(error)));
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output: Buffer.concat(chunks).toString("utf8"), ...(stopped && { stopped }) });
    });
  });
}

function readResult({ code, output, stopped }: ProcessResult, limits: ReaderLimits): ReadResult {
  if (stopped === "output") return { problem: "The file has more text than can be indexed: split it." };
  if (code === 0) return JSON.parse(output) as ReadResult; // written by src/platform/reader/main.ts
  if (stopped === "time")
    return { problem: `Reading the file took longer than ${limits.timeMs / 1_000} seconds.` };
  if (code !== null) throw new Error(`The process that reads files ended with code ${code}.`);
  // A signal came from this server, from the system or from Node itself: in each case because of too much memory.
  const mebibytes = Math.floor(limits.memoryBytes / MIB);
  return { problem: `Reading the file took too much memory: split it. The limit is ${mebibytes} MiB.` };
}
