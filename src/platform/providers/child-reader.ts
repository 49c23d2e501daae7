import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { overgrown, startConfined, type ConfinedProcess } from "./confined-process";
import type { DocumentReader, ReadResult } from "../ports/document-reader";

export interface ReaderLimits {
  /** Wall time, in milliseconds. */
  readonly time: number;
  /** Resident memory, in bytes. */
  readonly memory: number;
  /** Of what the process says, in bytes. */
  readonly output: number;
}

const MIB = 1_048_576;
const LIMITS: ReaderLimits = { time: 60_000, memory: 768 * MIB, output: 32 * MIB };

/** Compiled, as the TypeScript form of this file runs it too. */
const PROGRAM = join("dist", "src", "platform", "reader", "main.js");

/** How a process ended, and what it said. */
interface End {
  readonly code: number | null;
  readonly output: string;
  readonly stopped?: "time" | "memory" | "output";
}

/** Reads each document in a confined process of its own, which ends with it, within limits of memory, time and output. */
export function childReader(limits: Partial<ReaderLimits> = {}): DocumentReader {
  const all = { ...LIMITS, ...limits };
  return {
    async read(type, content) {
      const child = startConfined([join(realpathSync(process.cwd()), PROGRAM), type], all.memory);
      const [end] = await Promise.all([ending(child, all), feed(child, content)]);
      return readingOf(end, all);
    },
  };
}

/** Passes the document on; a process that no longer listens says by its end why. @throws Error when `content` breaks off */
async function feed(child: ConfinedProcess, content: Readable): Promise<void> {
  child.stdin.on("error", () => undefined);
  try {
    for await (const chunk of content) {
      if (child.stdin.destroyed || child.exitCode !== null || child.signalCode !== null) return;
      if (!child.stdin.write(chunk)) await drained(child);
    }
    child.stdin.end();
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

const drained = (child: ConfinedProcess): Promise<void> =>
  new Promise((resolve) => {
    child.stdin.once("drain", resolve).once("close", resolve);
    child.once("close", resolve);
  });

/** @throws Error when it could not be started */
function ending(child: ConfinedProcess, limits: ReaderLimits): Promise<End> {
  return new Promise((resolve, reject) => {
    let stopped: End["stopped"];
    const stop = (why: End["stopped"]) => {
      stopped ??= why;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(() => stop("time"), limits.time);
    void overgrown(child, limits.memory).then(() => stop("memory"));
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.output) stop("output");
      else chunks.push(chunk);
    });
    child.once("error", (error) => (clearTimeout(timer), reject(error)));
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output: Buffer.concat(chunks).toString("utf8"), ...(stopped && { stopped }) });
    });
  });
}

function readingOf({ code, output, stopped }: End, limits: ReaderLimits): ReadResult {
  if (stopped === "output") return { problem: "The file has more text than can be indexed: split it." };
  if (code === 0) return JSON.parse(output) as ReadResult; // written by src/platform/reader/main.ts
  if (stopped === "time")
    return { problem: `Reading the file took longer than ${limits.time / 1_000} seconds.` };
  if (code !== null) throw new Error(`The process that reads files ended with code ${code}.`);
  // Stopped here or killed by the system, or given up by Node: in all three it had grown too large.
  return { problem: `Reading the file took more than ${Math.floor(limits.memory / MIB)} MiB of memory.` };
}
