import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach } from "@jest/globals";
import { Api } from "./api";
import { PUBLIC_KEY, SECRET_KEY } from "./config";
import { createDatabase, inTestedPlaces, statement } from "./database";
import { filesInS3 } from "./files-in-s3";
import { roomiest } from "./roomiest";
import { until } from "./until";

/** Runs a program as `npm run` does. */
export const RUN = resolve(__dirname, "../../src/cli/bundle/run.cjs");
/** Time for a server to start, stop or apply a change. */
export const SERVER_TIMEOUT_MS = 90_000;

export type Env = Readonly<Record<string, string>>;

/** The exit code and output of a program. */
export interface ProcessResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A server in its own process, as an operator runs it. */
export interface ServerProcess {
  readonly pid: number;
  readonly url: string;
  /** Client with the SECRET key in `SETTINGS`, else with the printed one. */
  readonly api: Api;
  /** Standard output so far. */
  stdout(): string;
  stderr(): string;
  /** Closes its output pipes, as when the terminal or the log collector ends. */
  closeOutput(): void;
  /** Sends the signal and waits until the process has ended. */
  end(signal: NodeJS.Signals): Promise<ProcessResult>;
}

/** Settings of servers on a test database. */
export const SETTINGS: Env = {
  PORT: "0",
  HOST: "127.0.0.1",
  ENCRYPTION_KEYS: "an encryption key that only tests use",
  BOOTSTRAP_SECRET_KEY: SECRET_KEY,
  BOOTSTRAP_PUBLIC_KEY: PUBLIC_KEY,
};

type Step = () => unknown;
/** Runs steps in a hook, the last one first. */
function afterwards(hook: (end: () => Promise<void>, timeout: number) => void): (step: Step) => void {
  const steps: Step[] = [];
  hook(async () => {
    for (const step of steps.splice(0).reverse()) await step();
  }, 2 * SERVER_TIMEOUT_MS);
  return (step) => void steps.push(step);
}
/** Runs a step after the test. */
export const afterTest = afterwards(afterEach);
/** Runs a step after all tests of the file. */
export const afterTests = afterwards(afterAll);

/** A folder that is removed after the test. Servers without DATABASE_URL create their database in it. */
export function emptyFolder(over = afterTest): string {
  const folder = mkdtempSync(join(roomiest(), "parley-server-"));
  over(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Where and as whom a program runs; by default in an empty folder, which has no .env, as the current user. */
export interface Place {
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
}

/** Starts a program with only these settings. */
function run(
  program: string,
  env: Env,
  options: readonly string[] = [],
  over = afterTest,
  place: Place = {},
) {
  const { PATH = "", HOME = "", TMPDIR = tmpdir() } = process.env;
  const child = spawn(process.execPath, [RUN, program, ...options], {
    env: { PATH, HOME, TMPDIR, ...filesInS3(env), ...env },
    cwd: emptyFolder(over),
    ...place,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => (said[name] += text));
  const ended = once(child, "close").then(([code]: unknown[]): ProcessResult => ({
    code: code as number | null,
    ...said,
  }));
  over(() => (child.exitCode === null && child.signalCode === null ? end(child, ended) : undefined));
  return { child, said, ended };
}

/** Ends it as an operator does, so that its embedded database ends too. */
async function end(child: ChildProcess, ended: Promise<ProcessResult>): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), SERVER_TIMEOUT_MS / 2);
  await ended;
  clearTimeout(timer);
}

/** Runs a program until it ends. */
export const runToEnd = (program: string, env: Env, ...options: string[]): Promise<ProcessResult> =>
  run(program, env, options).ended;

/** Starts a program. @returns its end, and a function that kills it, by default with SIGKILL */
export function startProgram(program: string, env: Env, ...options: string[]) {
  const { child, ended } = run(program, env, options);
  return { ended, kill: (signal: NodeJS.Signals = "SIGKILL") => (child.kill(signal), ended) };
}

/** Runs a program in a folder, and as a user, until it ends. */
export const runAt = (
  place: Place,
  program: string,
  env: Env,
  ...options: string[]
): Promise<ProcessResult> => run(program, env, options, afterTest, place).ended;

/** Starts a server, for the test or for all tests of the file, and waits until it is ready. */
export async function startServer(env: Env, over = afterTest): Promise<ServerProcess> {
  const { child, said, ended } = run("main", { ...env, ...inTestedPlaces(env) }, [], over);
  const early = ended.then(({ code, stderr }): never => {
    throw new Error(`the server ended with ${code}: ${stderr}`);
  });
  early.catch(() => undefined); // a later end is not a failure
  await Promise.race([early, until(() => said.stdout.includes("Try it:"))]);
  const url = /GraphQL +(http:\S+)\/graphql/.exec(said.stdout)![1]!;
  const secret = env.BOOTSTRAP_SECRET_KEY ?? /SECRET +(\S+)/.exec(said.stdout)?.[1] ?? "";
  return {
    pid: child.pid!,
    url,
    api: new Api(url, { "X-API-Key": secret }),
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    closeOutput: () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Creates a database without tables. @returns its URL */
export async function emptyDatabase(over = afterTest): Promise<string> {
  const postgres = process.env.TEST_POSTGRES!;
  const name = `empty_${Math.random().toString(36).slice(2)}`;
  await statement(postgres, `create database ${name}`);
  over(() => statement(postgres, `drop database if exists ${name} with (force)`));
  const url = new URL(postgres);
  url.pathname = `/${name}`;
  return url.href;
}

/** Creates a database as after a start, with the default organization of `SETTINGS`. @returns its URL */
export async function preparedDatabase(over = afterTest): Promise<string> {
  const { ownerUrl, drop } = await createDatabase();
  over(drop);
  return ownerUrl;
}
