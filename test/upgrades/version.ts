import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "../support/free-port";
import { until } from "../support/until";

/** A built checkout of a version. */
export interface Version {
  readonly folder: string;
  readonly commit: string;
  remove(): void;
}

function command(program: string, args: readonly string[], cwd?: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout.trim();
}

/** The version in this folder, which has been built. */
export const thisVersion = (): Version => ({
  folder: process.cwd(),
  get commit() {
    return command("git", ["describe", "--always", "--dirty"]);
  },
  remove: () => undefined,
});

/** Whether the commit can be checked out: not without Git, nor in a shallow clone that ends after it. */
export const isHere = (commit: string): boolean =>
  spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`]).status === 0;

/** Installs packages that this checkout no longer has, where those of the version's folder find them. */
function installMissing(folder: string, parent: string): void {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const missing = Object.entries(dependencies).filter(([name]) => !existsSync(join("node_modules", name)));
  const options = ["--no-save", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"];
  const packages = missing.map(([name, version]) => `${name}@${version}`);
  if (packages.length > 0) command("npm", ["install", "--prefix", parent, ...options, ...packages]);
}

/** Checks a commit out into a folder of its own and builds it, with the packages of this checkout. */
export function checkOut(ref: string): Version {
  const commit = command("git", ["rev-parse", "--short", `${ref}^{commit}`]);
  const parent = mkdtempSync(join(process.env.CHECKOUTS ?? tmpdir(), "parley-version-"));
  const folder = join(parent, commit);
  command("git", ["worktree", "add", "--detach", folder, commit]);
  const remove = () => {
    command("git", ["worktree", "remove", "--force", folder]);
    rmSync(parent, { recursive: true, force: true });
  };
  try {
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
    installMissing(folder, parent);
    command(process.execPath, ["src/cli/launch.mjs"], folder);
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, commit, remove };
}

export interface Server {
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Its standard output and standard error so far. */
  said(): string;
  stop(): Promise<void>;
}

/** Runs a server of a version with only these settings, and waits until it is ready. */
export async function serve(
  { folder }: Version,
  settings: Readonly<Record<string, string>>,
): Promise<Server> {
  const port = String(await freePort());
  const { PATH = "", HOME = "", TMPDIR = tmpdir() } = process.env;
  const bundled = join(folder, "src/cli/bundle/run.cjs");
  const program = existsSync(bundled) ? [bundled, "main"] : [join(folder, "src/cli/launch.mjs"), "main"];
  const env = { PATH, HOME, TMPDIR, HOST: "127.0.0.1", ...settings, PORT: port };
  const child = spawn(process.execPath, program, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const url = `http://127.0.0.1:${port}`;
  const ended = once(child, "close");
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  const isReady = async () => {
    if (child.exitCode !== null) return true;
    return (await fetch(`${url}/health/ready`)).ok;
  };
  await until(isReady).catch(async (cause: unknown) => {
    await stop();
    throw new Error(`The server is not ready:\n${said}`, { cause });
  });
  if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}:\n${said}`);
  return { url, pid: child.pid!, child, said: () => said, stop };
}
