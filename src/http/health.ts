import { open } from "node:fs/promises";
import { Router } from "express";
import { clockHealth } from "../platform/database/clock-watch";
import type { Database } from "../platform/database/database";
import type { FileStore } from "../assistants/files/file-store";

/** Timeout of each check, in ms. */
const CHECK_TIMEOUT_MS = 2_000;

/** Result of a check that failed or was too slow. */
export const UNREACHABLE = "unreachable";

/** Checks one dependency of the service: "ok", or a word for what is wrong. */
type HealthCheck = () => Promise<string>;

/** Results of the checks by name; `ready` if all are "ok" and the server is not stopping. */
type Readiness = () => Promise<{
  readonly ready: boolean;
  readonly results: Readonly<Record<string, string>>;
}>;

/** Checks whether the server can answer requests. A check that fails or takes over 2 s counts as "unreachable". */
export function readinessOf(
  database: Pick<Database, "health">,
  fileStore: Pick<FileStore, "isReachable">,
  draining: () => boolean,
): Readiness {
  const checks: Readonly<Record<string, HealthCheck>> = {
    database: () => database.health(),
    files: async () => ((await fileStore.isReachable()) ? "ok" : "not shared"),
    fileHandles,
    clock: clockHealth,
  };
  return async () => {
    const results = Object.fromEntries(
      await Promise.all(
        Object.entries(checks).map(async ([name, check]) => [name, await inTime(check)] as const),
      ),
    );
    // The database stores which files belong to the installation.
    if (results.database === UNREACHABLE) results.files = "unknown";
    return { ready: Object.values(results).every((result) => result === "ok") && !draining(), results };
  };
}

/**
 * `/health/live`: the process is up. `/health/ready`: the server can answer requests. `held` is true for a restored copy
 * that sends nothing until it is released, and for a database that was moved elsewhere. `upgrading` lists the online
 * steps of migrations that are not done yet; the server works as usual meanwhile.
 */
export function health(
  readiness: Readiness,
  database: Pick<Database, "hold">,
  draining: () => boolean,
  upgrading: () => readonly string[],
): Router {
  const router = Router();
  router.get("/health/live", (_req, res) => void res.json({ status: "ok" }));
  router.get("/health/ready", async (_req, res) => {
    const { ready, results } = await readiness();
    const held = ready && (await database.hold().catch(() => undefined)) !== undefined;
    if (!ready) res.set("Retry-After", "2");
    res.status(ready ? 200 : 503).json({
      status: ready ? "ok" : draining() ? "stopping" : "unavailable",
      ...results,
      ...(held && { held }),
      ...(upgrading().length > 0 && { upgrading: upgrading() }),
    });
  });
  return router;
}

function inTime(check: HealthCheck): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(UNREACHABLE), CHECK_TIMEOUT_MS);
  });
  return Promise.race([check().catch(() => UNREACHABLE), late]).finally(() => clearTimeout(timer));
}

/** Whether the process can still open files and connections. */
async function fileHandles(): Promise<string> {
  const free = await open(process.execPath).catch(() => undefined);
  await free?.close();
  return free ? "ok" : "exhausted";
}
