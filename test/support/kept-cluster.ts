import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join, relative } from "node:path";

const ROOT = join(__dirname, "../..");
const CACHE = join(ROOT, "node_modules/.cache/parley-test");
const UNFINISHED = "unfinished-";
/**
 * Sources that determine the content of a new database; the lock file gives the versions of PostgreSQL and of the job
 * queue.
 */
const SOURCES = ["src/platform/database/migrations", "src/start", "package-lock.json"];

/** Folder of this user's copy of a migrated cluster. */
function folder(): string {
  const digest = createHash("sha256").update(String(process.getuid?.()));
  for (const source of SOURCES.map((path) => join(ROOT, path)))
    for (const file of statSync(source).isFile()
      ? [source]
      : readdirSync(source)
          .sort()
          .map((name) => join(source, name)))
      digest.update(relative(ROOT, file)).update(readFileSync(file));
  return join(CACHE, digest.digest("hex").slice(0, 16));
}

/** Copies the cluster of an earlier run to the folder. @returns whether there was one */
export function useKeptCluster(dataDir: string): boolean {
  const kept = folder();
  if (!existsSync(kept)) return false;
  copy(kept, dataDir);
  return true;
}

/** Copies a stopped cluster for later runs, and removes older copies. */
export function keepCluster(dataDir: string): void {
  mkdirSync(CACHE, { recursive: true });
  const older = readdirSync(CACHE).filter((name) => !isBeingMade(name));
  const unfinished = mkdtempSync(join(CACHE, UNFINISHED));
  copy(dataDir, unfinished);
  for (const name of older) rmSync(join(CACHE, name), { recursive: true, force: true });
  renameSync(unfinished, folder());
}

/** Whether another run is probably making this copy. */
const isBeingMade = (name: string) =>
  name.startsWith(UNFINISHED) && Date.now() - statSync(join(CACHE, name)).mtimeMs < 600_000;

/** Copies with `cp`, which preserves owners, because PostgreSQL refuses files of another user. */
const copy = (from: string, to: string) => execFileSync("cp", ["-a", `${from}/.`, to]);
