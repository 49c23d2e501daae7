import { execFile, spawn, type ChildProcessByStdio } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { PACKAGE_FOLDERS, ROOT } from "../root";

export type ConfinedProcess = ChildProcessByStdio<Writable, Readable, null>;

const MIB = 1_048_576;
const MEMORY_CHECK_INTERVAL_MS = 20;
/** Node's permissions do not cover files that Node itself writes, such as traces. These limits forbid writing to files and core dumps. */
const WITHOUT_FILES = 'ulimit -f 0 && ulimit -c 0 && exec "$@"';
/** Working directory: one in which no file can be created, if the system has one. */
const WORKING_DIRECTORY = existsSync("/proc/self") ? "/proc" : "/";

/**
 * Starts Node without environment variables, in a folder that takes no files. The process may not write, read anything
 * but our own programs, start processes or threads, or load native code. `src/platform/reader/cut-off/cut-off.ts`, compiled,
 * removes its network access.
 * @param args program and arguments; paths must be absolute, since the process does not run in our folder
 * @param memoryBytes limit for resident memory; Node limits only its heap, so call `memoryExceeded`, too
 */
export function startConfined(args: readonly string[], memoryBytes: number): ConfinedProcess {
  const readable = [
    join(ROOT, "package.json"),
    ...[join(ROOT, "dist"), ...PACKAGE_FOLDERS].map((folder) => join(folder, "*")),
  ].map((path) => `--allow-fs-read=${path}`);
  const permissions = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const cutOff = ["--require", join(ROOT, "dist/src/platform/reader/cut-off/cut-off.js")];
  const heap = `--max-old-space-size=${Math.floor(memoryBytes / 2 / MIB)}`;
  const command = [process.execPath, permissions, ...readable, ...cutOff, heap, ...args];
  return spawn("/bin/sh", ["-c", WITHOUT_FILES, "sh", ...command], {
    cwd: WORKING_DIRECTORY,
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
  });
}

/**
 * Resolves when a process uses more than `memoryBytes`, cannot be measured, or has ended. It is measured from outside,
 * because a process that unpacks a document is too busy to measure itself.
 */
export async function memoryExceeded(child: ConfinedProcess, memoryBytes: number): Promise<void> {
  const isSmall = async () => child.pid !== undefined && (await residentMemory(child.pid)) <= memoryBytes;
  while (child.exitCode === null && child.signalCode === null && (await isSmall().catch(() => false)))
    await sleep(MEMORY_CHECK_INTERVAL_MS);
}

/** Resident memory of a process, in bytes. */
async function residentMemory(pid: number): Promise<number> {
  const kilobytes =
    process.platform === "linux"
      ? /^VmRSS:\s*(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]
      : (await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)])).stdout;
  return Number(kilobytes) * 1_024;
}
