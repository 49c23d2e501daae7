import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import {
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  SETTINGS,
  startServer,
} from "../support/server";
import { until } from "../support/until";

function upload(api: Api) {
  const form = new FormData();
  form.append("file", new Blob(["the content"]), "text.txt");
  return api.request("POST", "/rest/v1/files/upload", form);
}

/** The content of a file, fetched from this server whatever host the link names. */
async function download(api: Api, id: string) {
  const { url } = await api.get(`/rest/v1/files/${id}/download`, 200);
  return api.request("GET", new URL(url).pathname + new URL(url).search);
}

describe("two servers on one database", () => {
  test(
    "share their files in one folder",
    async () => {
      const env = { ...SETTINGS, DATABASE_URL: await preparedDatabase(), DATA_DIR: emptyFolder() };
      const [first, second] = [await startServer(env), await startServer(env)];
      const { id } = (await upload(first.api)).body;
      expect(await download(second.api, id)).toMatchObject({ status: 200, text: "the content" });
      for (const { api, stdout } of [first, second]) {
        expect(await api.get("/health/ready", 200)).toMatchObject({ files: "ok" });
        expect(stdout()).not.toContain("NOT SHARED");
      }
      expect(readdirSync(join(env.DATA_DIR, "files"))).toContain("installation");
    },
    3 * SERVER_TIMEOUT_MS,
  );

  test(
    "with separate folders: the second reports it, is not ready and refuses files until it adopts them",
    async () => {
      const shared = { ...SETTINGS, DATABASE_URL: await preparedDatabase() };
      const first = await startServer({ ...shared, DATA_DIR: emptyFolder() });
      const apart = { ...shared, DATA_DIR: emptyFolder() };
      const second = await startServer(apart);
      await until(() => second.stdout().includes("FILES ARE NOT SHARED"));
      expect(await second.api.get("/health/ready", 503)).toMatchObject({ files: "not shared" });
      expect(await first.api.get("/health/ready", 200)).toMatchObject({ files: "ok" });

      const { id } = (await upload(first.api)).body;
      for (const answer of [await download(second.api, id), await upload(second.api)]) {
        expect(answer).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
        expect(answer.headers.get("Retry-After")).toBe("2");
      }

      expect(await runToEnd("cli/files-adopt", apart)).toMatchObject({ code: 0 });
      await until(async () => (await second.api.request("GET", "/health/ready")).status === 200);
      expect((await upload(second.api)).status).toBe(201);
      // Files of the other folder are missing here: 404, not an internal error.
      expect(await download(second.api, id)).toMatchObject({
        status: 404,
        body: { code: "FILE_CONTENT_MISSING" },
      });
    },
    4 * SERVER_TIMEOUT_MS,
  );
});
