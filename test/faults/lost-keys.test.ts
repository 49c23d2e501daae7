import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { statement } from "../support/database";
import {
  afterTest,
  emptyFolder,
  preparedDatabase,
  runToEnd,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  startServer,
} from "../support/server";

test(
  "a lost file of encryption keys is named and never replaced by the server or a command, until it is back",
  async () => {
    const env = { DATA_DIR: emptyFolder(), PORT: "0" };
    const server = await startServer(env);
    const file = join(env.DATA_DIR, "encryption-keys");
    const lost = join(emptyFolder(), "lost");
    renameSync(file, lost);
    const missing = `The file ${file} is missing: restore it from your copy`;
    const refuses = async (program: string, ...options: string[]) => {
      const { code, stderr } = await runToEnd(program, env, ...options);
      expect({ program, code, stderr }).toEqual({
        program,
        code: 78,
        stderr: expect.stringContaining(missing),
      });
      expect(existsSync(file)).toBe(false);
    };
    await refuses("cli/key-create"); // on the database of the running server
    await refuses("cli/keys-rotate", "--new-key");
    await server.end("SIGTERM");
    await refuses("main");
    await refuses("cli/backup", join(emptyFolder(), "backup"));

    writeFileSync(file, "k".repeat(43));
    expect((await runToEnd("main", env)).stderr).toMatch(
      new RegExp(
        `^The file ${file} lacks the key \\S+, with which .* Restore the file from your copy\\.\\n$`,
      ),
    );
    rmSync(file);
    writeFileSync(file, readFileSync(lost));
    const again = await startServer(env);
    afterTest(() => again.end("SIGTERM"));
  },
  6 * SERVER_TIMEOUT_MS,
);

test(
  "a key whose row was changed in the database does not keep the server from starting",
  async () => {
    const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
    await statement(
      env.DATABASE_URL,
      "update api_keys set sealed_value = split_part(sealed_value, '.', 1) || '.changed' where type = 'PUBLIC'",
    );
    const again = await startServer(env);
    afterTest(() => again.end("SIGTERM"));
  },
  2 * SERVER_TIMEOUT_MS,
);
