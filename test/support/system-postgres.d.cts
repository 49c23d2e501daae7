import type { ChildProcess } from "node:child_process";

/** The folder with the programs of the newest version; undefined if none is installed. */
export function programs(): string | undefined;
/** The user as whom PostgreSQL runs, who must own its folder: the current one, but never root. */
export function identity(): { readonly uid?: number; readonly gid?: number };
/** Runs one of the programs until it ends. */
export function runProgram(name: string, ...args: readonly string[]): void;
/** Creates an empty cluster, in which the superuser `parley` needs no password. */
export function createCluster(data: string): void;
/** Starts PostgreSQL on a cluster, reachable at 127.0.0.1 only. */
export function startCluster(
  data: string,
  port: number,
  settings?: Readonly<Record<string, string>>,
): ChildProcess;
/** Whether the server of a cluster accepts connections. */
export function isReady(data: string): boolean;
