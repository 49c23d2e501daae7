import { execFile, spawn, type ChildProcessByStdio } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

export type ConfinedProcess = ChildProcessByStdio<Writable, Readable, null>;

const MIB = 1_048_576;
const LOOK_AGAIN = 20;
/** Node's permissions don't cover what Node itself writes, such as traces: no file may grow, nor a crash leave its memory. */
const WITHOUT_FILES = 'ulimit -f 0 && ulimit -c 0 && exec "$@"';
/** Where what Node writes would stand: in a folder that takes no file, where the system has one. */
const NOWHERE = existsSync("/proc/self") ? "/proc" : "/";

/**
 * Starts Node with nothing of the environment, in a folder that takes no files, and without the right to write, to read anything but our own programs,
 * to start processes or threads, or to load native code; `src/platform/reader/cut-off.ts`, compiled, takes the network from it.
 * @param args absolute paths, as the process does not run in our folder
 * @param memory resident, in bytes: `overgrown` watches it, as Node limits its heap alone
 */
export function startConfined(args: readonly string[], memory: number): ConfinedProcess {
  const root = realpathSync(process.cwd());
  const may = ["dist/*", "node_modules/*", "package.json"].map(
    (path) => `--allow-fs-read=${join(root, path)}`,
  );
  const permissions = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const cutOff = ["--require", join(root, "dist/src/platform/reader/cut-off.js")];
  const heap = `--max-old-space-size=${Math.floor(memory / 2 / MIB)}`;
  const command = [process.execPath, permissions, ...may, ...cutOff, heap, ...args];
  return spawn("/bin/sh", ["-c", WITHOUT_FILES, "sh", ...command], {
    cwd: NOWHERE,
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
  });
}

/**
 * Resolves once a process takes more than `memory`, can't be looked at, or has ended. Seen from outside, as one that a
 * document unfolds in is too busy to look at itself.
 */
export async function overgrown(child: ConfinedProcess, memory: number): Promise<void> {
  const small = async () => child.pid !== undefined && (await residentMemory(child.pid)) <= memory;
  while (child.exitCode === null && child.signalCode === null && (await small().catch(() => false)))
    await sleep(LOOK_AGAIN);
}

/** In bytes. */
async function residentMemory(pid: number): Promise<number> {
  const kilobytes =
    process.platform === "linux"
      ? /^VmRSS:\s*(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]
      : (await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)])).stdout;
  return Number(kilobytes) * 1_024;
}
