import { expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { emptyFolder, SERVER_TIMEOUT_MS, SETTINGS, startServer } from "../support/server";
import { until } from "../support/until";

test(
  "a server with closed standard output and error survives a crash of its embedded database",
  async () => {
    const dataDir = emptyFolder();
    const server = await startServer({ ...SETTINGS, DATA_DIR: dataDir });
    await server.api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    server.closeOutput();
    const postmaster = async () =>
      (await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n")[0]!;
    const killed = await postmaster();
    process.kill(Number(killed), "SIGKILL");
    // The file is gone for a moment while the new one starts.
    await until(async () => (await postmaster()) !== killed);
    await until(async () => (await server.api.request("GET", "/health/ready")).status === 200);
    const { data } = await server.api.get("/rest/v1/assistants", 200);
    expect(data).toMatchObject([{ name: "Ada" }]);
    expect((await server.end("SIGTERM")).code).toBe(0);
  },
  4 * SERVER_TIMEOUT_MS,
);
