import { Router } from "express";
import type { Database } from "../database/database";

const PATIENCE = 2_000;

/** `/health/live`: the process lives. `/health/ready`: the database answers and the server takes requests. */
export function health(database: Pick<Database, "ping">, draining: () => boolean): Router {
  const router = Router();
  router.get("/health/live", (_req, res) => void res.json({ status: "ok" }));
  router.get("/health/ready", async (_req, res) => {
    const late = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error("late")), PATIENCE).unref(),
    );
    const answer = await Promise.race([database.ping(), late]).then(
      () => "ok",
      () => "unreachable",
    );
    const ready = answer === "ok" && !draining();
    if (!ready) res.set("Retry-After", "2");
    res
      .status(ready ? 200 : 503)
      .json({ status: ready ? "ok" : draining() ? "stopping" : "unavailable", database: answer });
  });
  return router;
}
