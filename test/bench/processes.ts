import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Load, LoadResult } from "./load";

/** A server in its own process. */
export interface Running {
  readonly url: string;
  readonly pid: number;
  /** Time from the start of the process until it was ready, in seconds. */
  readonly startSeconds: number;
  stop(): Promise<void>;
}

/**
 * Starts a program with only these settings in a working folder, and waits for the address that it prints.
 * @param program Node's options, then the program
 */
export async function start(
  program: readonly string[],
  address: RegExp,
  env: Readonly<Record<string, string>>,
  cwd?: string,
  node = process.execPath,
): Promise<Running> {
  const { PATH = "", HOME = "" } = process.env;
  const began = performance.now();
  const child = spawn(node, program, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${program.join(" ")} ended with ${code}`)));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const found = address.exec((said += text));
      if (found) resolve(found[1]!);
    });
  });
  const ready = await fetch(`${url}/health/ready`);
  if (!ready.ok) throw new Error(`${program.join(" ")} is not ready: ${await ready.text()}`);
  const startSeconds = (performance.now() - began) / 1000;
  return { url, pid: child.pid!, startSeconds, stop: () => stop(child) };
}

const running = new Set<ChildProcess>();

/** Ends the processes that a failed part has left running. */
export const stopAll = async (): Promise<void> => {
  await Promise.all([...running].map(stop));
};

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** Resident memory of a process in MiB. */
export const residentMemory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** The process that sends the requests, so that they take no time from either server. */
export class LoadGenerator {
  private readonly child = fork(join("dist", "bench", "load.js"));

  /** @returns the total duration in seconds */
  async send(load: Load): Promise<number> {
    const answered = once(this.child, "message");
    this.child.send(load);
    const [taken] = (await answered) as [LoadResult];
    if ("failure" in taken) throw new Error(`${load.method} ${load.path}: ${taken.failure}`);
    return taken.seconds;
  }

  stop(): Promise<void> {
    return stop(this.child);
  }
}
