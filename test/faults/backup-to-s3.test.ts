import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { storageAt } from "../support/files";
import { contentsOf, elsewhere, isEmpty, waitingInstallation } from "../support/installation";
import { emptyDatabase, emptyFolder, runToEnd, SERVER_TIMEOUT_MS, type Env } from "../support/server";
import { startS3 } from "../support/s3";

let s3: Awaited<ReturnType<typeof startS3>>;
beforeAll(async () => {
  s3 = await startS3("AKIDTEST");
});
afterAll(() => s3.stop());

test(
  "an encrypted backup in a bucket restores everything with its key; an interrupted one, or another key, changes nothing",
  async () => {
    const { env: former, fileId } = await waitingInstallation();
    const env: Env = {
      ...former,
      BACKUP_KEY: "correct horse battery staple",
      BACKUP_S3_ENDPOINT: s3.url,
      BACKUP_S3_ACCESS_KEY_ID: "AKIDTEST",
      BACKUP_S3_SECRET_ACCESS_KEY: "secret",
      BACKUP_S3_REGION: "eu-central-1",
    };
    const before = await contentsOf(env.DATABASE_URL!);
    const copy = elsewhere(env, await emptyDatabase());
    const target = "s3://backups/daily/1";

    s3.refuse((method, key) => (method === "PUT" && key.includes("tables/messages") ? 403 : undefined));
    const interrupted = await runToEnd("cli/backup", env, target);
    expect([interrupted.code, interrupted.stderr]).toEqual([
      78,
      expect.stringContaining("refuses access to"),
    ]);
    s3.refuse(() => undefined);
    const incomplete = await runToEnd("cli/restore", copy, target);
    expect(incomplete.stderr).toContain(`${target} is not a complete backup`);

    const written = await runToEnd("cli/backup", env, "s3://backups/daily/2", "--encrypt", "--include-keys");
    expect(written).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Wrote the encrypted backup of"),
      stderr: expect.not.stringContaining("Warning"),
    });
    for (const content of s3.objects.values()) expect(content.includes("what a file holds")).toBe(false);

    const { ENCRYPTION_KEYS: _, ...withoutKeys } = copy;
    const wrong = { ...withoutKeys, BACKUP_KEY: "another long passphrase" };
    const refused = await runToEnd("cli/restore", wrong, "s3://backups/daily/2");
    expect(refused.stderr).toContain("The key in BACKUP_KEY does not decrypt");
    expect(await isEmpty(copy.DATABASE_URL!)).toBe(true);

    const keyFile = join(emptyFolder(), "key");
    writeFileSync(keyFile, `${env.BACKUP_KEY!}\n`);
    const restored = await runToEnd("cli/restore", wrong, "s3://backups/daily/2", "--key-file", keyFile);
    expect(restored).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /content of s3:\/\/backups\/daily\/2\/encryption-keys\.age, which `age` decrypts: .*docs\/backup\.md/,
      ),
    });
    expect(await contentsOf(copy.DATABASE_URL!)).toEqual(before);
    const files = storageAt(copy.DATA_DIR!);
    const contents: string[] = [];
    for await (const { key } of files.list())
      if (key.endsWith(fileId)) contents.push(await text(await files.get(key)));
    expect(contents).toEqual(["what a file holds"]);
  },
  4 * SERVER_TIMEOUT_MS,
);
