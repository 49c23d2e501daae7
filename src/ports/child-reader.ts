import { spawn, type ChildProcessByStdio } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { DocumentReader, ReadableType, Reading } from "./document-reader";

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

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** How a process ended, and what it said. */
interface End {
  readonly code: number | null;
  readonly output: string;
  readonly stopped?: "time" | "output";
}

/**
 * Reads each document in a process of its own, which ends with it: without the environment, without the right to write,
 * to start others, or to read anything but its own program, and within limits of memory, time and output.
 */
export function childReader(limits: Partial<ReaderLimits> = {}): DocumentReader {
  const { time, memory, output } = { ...LIMITS, ...limits };
  return {
    async read(type, content) {
      const child = start(type, memory);
      const [end] = await Promise.all([ending(child, time, output), feed(child, content)]);
      return readingOf(end, { time, memory, output });
    },
  };
}

/** The compiled program, which the TypeScript form of this file runs too. */
function start(type: ReadableType, memory: number): Child {
  const root = realpathSync(process.cwd());
  const may = ["dist/*", "node_modules/*", "package.json"].map(
    (path) => `--allow-fs-read=${join(root, path)}`,
  );
  const permissions = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const heap = `--max-old-space-size=${Math.floor(memory / 2 / MIB)}`;
  const program = join(root, "dist/src/reader/main.js");
  const options = [permissions, "--allow-worker", ...may, heap, program, type, String(memory)];
  return spawn(process.execPath, options, { cwd: root, env: {}, stdio: ["pipe", "pipe", "ignore"] });
}

/** Passes the document on; a process that no longer listens says by its end why. @throws Error when `content` breaks off */
async function feed(child: Child, content: Readable): Promise<void> {
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

const drained = (child: Child): Promise<void> =>
  new Promise((resolve) => {
    child.stdin.once("drain", resolve).once("close", resolve);
    child.once("close", resolve);
  });

/** @throws Error when it could not be started */
function ending(child: Child, time: number, mostOutput: number): Promise<End> {
  return new Promise((resolve, reject) => {
    let stopped: End["stopped"];
    const stop = (why: End["stopped"]) => {
      stopped ??= why;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(() => stop("time"), time);
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostOutput) stop("output");
      else chunks.push(chunk);
    });
    child.once("error", (error) => (clearTimeout(timer), reject(error)));
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output: Buffer.concat(chunks).toString("utf8"), ...(stopped && { stopped }) });
    });
  });
}

function readingOf({ code, output, stopped }: End, limits: ReaderLimits): Reading {
  if (stopped === "time")
    return { problem: `Reading the file took longer than ${limits.time / 1_000} seconds.` };
  if (stopped === "output") return { problem: "The file holds more text than can be indexed: split it." };
  if (code === 0) return JSON.parse(output) as Reading; // written by src/reader/main.ts
  if (code !== null) throw new Error(`The process that reads files ended with code ${code}.`);
  // Killed by its own watch or by the system, or given up by Node: in all three it had grown too large.
  return { problem: `Reading the file took more than ${Math.floor(limits.memory / MIB)} MiB of memory.` };
}
