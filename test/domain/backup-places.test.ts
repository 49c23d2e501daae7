import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { backupKey } from "../../src/backup/backup-key";
import { openBackup, verifyBackup } from "../../src/backup/restore";
import { undonePlace } from "../../src/backup/undone-place";
import { writeBackup } from "../../src/backup/write-backup";
import { Crypto } from "../../src/platform/crypto";
import type { BackupPlace } from "../../src/platform/ports/backup-place";
import { openBackupPlace } from "../../src/platform/providers/open-backup-place";
import { openStorage } from "../../src/platform/providers/open-storage";
import { configOf } from "../support/config";
import { createDatabase } from "../support/database";
import { startS3 } from "../support/s3";
import { until } from "../support/until";

let s3: Awaited<ReturnType<typeof startS3>>;
let database: Awaited<ReturnType<typeof createDatabase>>;
let key: string;
/** The objects of two backups, by their paths: "plain", and "secret", which is encrypted with `key`. */
let whole: [string, Buffer][];
test("a folder on a full disk is named, with a remedy", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-full-"));
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  const content = new Readable({ read: () => void content.destroy(full) });
  await expect(openBackupPlace(folder, configOf({})).write("part", content)).rejects.toThrow(
    `The disk of ${folder} is full (ENOSPC). Free space, or name a folder on another disk.`,
  );
  rmSync(folder, { recursive: true });
});

beforeAll(async () => {
  key = await generateX25519Identity();
  s3 = await startS3("AKIDTEST");
  database = await createDatabase();
  await write("s3://backups/plain");
  await write("s3://backups/secret", key);
  whole = [...s3.objects];
});
afterEach(() => {
  s3.refuse(() => undefined);
  s3.objects.clear();
  for (const [key, content] of whole) s3.objects.set(key, content);
});
afterAll(() => Promise.all([s3.stop(), database.drop()]));

const settings = () => ({
  BACKUP_S3_ENDPOINT: s3.url,
  BACKUP_S3_ACCESS_KEY_ID: "AKIDTEST",
  BACKUP_S3_SECRET_ACCESS_KEY: "secret",
});
const keyOf = (text?: string) => text && backupKey(text, "BACKUP_KEY");
const write = async (target: string, key?: string, other: Record<string, string> = {}) =>
  writeTo(openBackupPlace(target, configOf({ ...settings(), ...other })), key);
const writeTo = (place: BackupPlace, key?: string, signal?: AbortSignal) =>
  writeBackup({
    url: database.ownerUrl,
    place,
    key: keyOf(key) || undefined,
    storage: openStorage(configOf({})),
    crypto: new Crypto(["a key of this test, which is long enough"]),
    version: "0.1.0",
    warn: () => undefined,
    ...(signal && { signal }),
  });
const verify = async (target: string, key?: string, other: Record<string, string> = {}) =>
  verifyBackup(
    await openBackup(openBackupPlace(target, configOf({ ...settings(), ...other })), keyOf(key) || undefined),
  );

describe("a backup in an S3-compatible store", () => {
  test("explains itself with the version and the time of its manifest", () => {
    const contentOf = (name: string) => whole.find(([key]) => key === `plain/${name}`)![1].toString();
    const { at, version } = JSON.parse(contentOf("manifest.json")) as Record<string, string>;
    expect(contentOf("README.txt")).toContain(`A backup of Parley ${version}, as of ${at}.\n`);
  });

  test("is verified, with and without encryption, and its names tell only the tables", async () => {
    await verify("s3://backups/plain");
    await verify("s3://backups/secret/", key);
    const paths = whole.map(([key]) => key).filter((key) => key.startsWith("secret/"));
    expect(paths.filter((path) => !path.endsWith(".age"))).toEqual(["secret/README.txt"]);
    const readable = whole.filter(
      ([, content]) => content.includes("knex") || content.includes("organizations"),
    );
    expect(readable.map(([key]) => key)).toEqual(["plain/manifest.json"]);
  });

  test("is read on where a connection broke off", async () => {
    let reads = 0;
    s3.refuse((method) => (method === "READ" && reads++ % 2 === 0 ? "break off" : undefined));
    await verify("s3://backups/secret", key);
    expect(reads).toBeGreaterThan(20);
  });

  test("is written although the store asks for fewer requests for a while", async () => {
    let refused = 0;
    s3.refuse((method, key) =>
      method === "PUT" && key.includes("/chats.") && refused++ < 4 ? 503 : undefined,
    );
    await write("s3://backups/patient");
    await verify("s3://backups/patient");
  });

  test("is closed if it is not read", async () => {
    s3.objects.set("plain/large", Buffer.alloc(30_000_000));
    const content = await openBackupPlace("s3://backups/plain", configOf(settings())).read("large");
    expect(s3.unfinished()).toBe(1);
    content!.destroy();
    await until(() => Promise.resolve(s3.unfinished() === 0));
  });

  test("can be encrypted for public keys, whose secret keys decrypt it", async () => {
    const [one, two] = [await generateX25519Identity(), await generateX25519Identity()];
    const recipients = await Promise.all([one, two].map(identityToRecipient));
    await write("s3://backups/public", recipients.join(","));
    await verify("s3://backups/public", `# created: today\n${two}\n`);
    await expect(verify("s3://backups/public", recipients[0])).rejects.toThrow(
      "public keys, which only encrypt",
    );
    await expect(verify("s3://backups/public", await generateX25519Identity())).rejects.toThrow(
      "The key in BACKUP_KEY does not decrypt the backup in s3://backups/public.",
    );
  });

  test("with a key of its own needs the passphrase of that key", async () => {
    s3.objects.set("secret/key.age", Buffer.from("age-encryption.org/v1"));
    await expect(verify("s3://backups/secret", key)).rejects.toThrow(
      "needs the passphrase; BACKUP_KEY has a secret key of age.",
    );
    await expect(verify("s3://backups/secret")).rejects.toThrow(
      "is encrypted. Set BACKUP_KEY to the passphrase",
    );
    await expect(verify("s3://backups/secret", "a long passphrase")).rejects.toThrow(
      "damaged: key.age was changed",
    );
  });

  const change = (path: string, by: (content: Buffer) => Buffer) => () =>
    s3.objects.set(path, by(Buffer.from(s3.objects.get(path)!)));
  const flipped = (content: Buffer) => (content.writeUInt8(content.at(-1)! ^ 1, content.length - 1), content);
  const chats = "secret/tables/chats.copy.gz.age";
  const cases: [string, () => unknown, RegExp][] = [
    ["lacks its manifest", () => s3.objects.delete("secret/manifest.json.age"), /not a complete backup/],
    ["has a changed manifest", change("secret/manifest.json.age", flipped), /damaged: manifest.json/],
    ["has a changed part", change(chats, flipped), /damaged: tables\/chats.* was changed/],
    ["has a part that was cut off", change(chats, (all) => all.subarray(0, -20)), /damaged: tables\/chats/],
    ["lacks a part", () => s3.objects.delete(chats), /damaged: tables\/chats.* is missing/],
    [
      "has the part of another table",
      () => s3.objects.set(chats, s3.objects.get("secret/tables/messages.copy.gz.age")!),
      /damaged: tables\/chats/,
    ],
  ];
  test.each(cases)("is refused if it %s", async (_, spoil, expected) => {
    spoil();
    await expect(verify("s3://backups/secret", key)).rejects.toThrow(expected);
  });
});

describe("a store that cannot be used is refused with the setting to correct:", () => {
  const file = "s3://backups/new";
  test("a machine whose clock is off", async () => {
    s3.refuse(() => "RequestTimeTooSkewed");
    await expect(write(file)).rejects.toThrow(/RequestTimeTooSkewed.*Correct the clock of this machine/);
  });

  const cases: [string, string, Record<string, string>, RegExp][] = [
    ["no bucket", "s3://nowhere/new", {}, /bucket "nowhere" .* does not exist .* BACKUP_S3_ENDPOINT/],
    [
      "another access key",
      file,
      { BACKUP_S3_ACCESS_KEY_ID: "other" },
      /refuses the credentials .*InvalidAccessKeyId.* BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY/,
    ],
    [
      "an endpoint that does not answer",
      file,
      { S3_ENDPOINT: "http://127.0.0.1:1", BACKUP_S3_ENDPOINT: "" },
      /cannot be reached .*ECONNREFUSED.* correct S3_ENDPOINT/,
    ],
    ["a used prefix", "s3://backups/plain", {}, /s3:\/\/backups\/plain is not empty/],
    ["another protocol", "gs://backups/new", {}, /s3:\/\/bucket\/prefix/],
    [
      "a name that no bucket can have",
      "s3://My_Backups/new",
      {},
      /buckets have 3 to 63 characters: small letters/,
    ],
  ];
  test.each(cases)("%s", async (_, target, other, expected) => {
    await expect(write(target, undefined, other)).rejects.toThrow(expected);
    expect(s3.objects.size).toBe(whole.length);
  });

  test("no right to write, and no right to read", async () => {
    s3.refuse((method, key) => (method === "PUT" && key !== "" ? 403 : undefined));
    await expect(write(file)).rejects.toThrow(/refuses access to .*AccessDenied.* s3:PutObject/);
    s3.refuse((method, key) => (method === "GET" && key !== "" ? 403 : undefined));
    await expect(verify("s3://backups/plain")).rejects.toThrow(/refuses access to .*AccessDenied/);
    expect(s3.objects.size).toBe(whole.length);
  });
});

test.each([undefined, "a long passphrase"])(
  "a full disk is reported as such, with the key %s",
  async (key) => {
    const place: BackupPlace = {
      name: "/full",
      prepare: () => Promise.resolve(),
      write: (path, content) => writeFile(path.startsWith("tables/") ? "/dev/full" : "/dev/null", content),
      read: () => Promise.resolve(undefined),
    };
    await expect(writeTo(place, key)).rejects.toThrow("ENOSPC: no space left on device");
  },
);

test("an interrupted backup aborts its upload", async () => {
  const controller = new AbortController();
  const place = openBackupPlace("s3://backups/interrupted", configOf(settings()));
  const write = (path: string, content: Readable) => {
    if (!path.startsWith("tables/messages")) return place.write(path, content);
    const endless = new Readable({ read: () => void endless.push(Buffer.alloc(2 ** 20)) });
    content.on("error", (error) => endless.destroy(error));
    return place.write(path, endless);
  };
  const failed = expect(writeTo({ ...place, write }, undefined, controller.signal)).rejects.toThrow("enough");
  await until(() => s3.uploads.size > 0);
  controller.abort(new Error("enough"));
  await failed;
  expect(s3.uploads.size).toBe(0);
});

describe("a backup that fails", () => {
  const parent = mkdtempSync(join(tmpdir(), "parley-failed-"));
  afterAll(() => rmSync(parent, { recursive: true }));
  /** A folder whose disk is full when the messages are written. */
  const filling = (folder: string, before: () => void = () => undefined): BackupPlace => {
    const place = openBackupPlace(folder, configOf({}));
    const write = (path: string, content: Readable) =>
      path.startsWith("tables/messages")
        ? (before(), writeFile("/dev/full", content))
        : place.write(path, content);
    return { ...place, write };
  };

  test("leaves nothing of itself, nor folders that it has created", async () => {
    await expect(writeTo(filling(join(parent, "one", "two")))).rejects.toThrow("ENOSPC");
    expect(readdirSync(parent)).toEqual([]);
  });

  test("leaves a folder that existed, and files of others", async () => {
    const folder = join(parent, "given");
    mkdirSync(folder);
    const other = join(folder, "tables", "of-somebody");
    await expect(writeTo(filling(folder, () => writeFileSync(other, "")))).rejects.toThrow("ENOSPC");
    expect(readdirSync(folder, { recursive: true })).toEqual(["tables", "tables/of-somebody"]);
  });

  test("leaves nothing if it is stopped while the place is about to read a small part", async () => {
    const folder = join(parent, "stopped");
    const inFolder = openBackupPlace(folder, configOf({}));
    let goOn = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (goOn = resolve));
    const slow = async (path: string, content: Readable) => (await waiting, inFolder.write(path, content));
    const place = undonePlace({ ...inFolder, write: slow });
    await place.prepare();
    const part = new PassThrough();
    const written = expect(place.write("part", part.end("small"))).rejects.toThrow("stopped");
    const undone = place.undo(new Error("stopped"));
    await until(() => part.closed);
    goOn();
    await Promise.all([written, undone]);
    expect(readdirSync(parent)).not.toContain("stopped");
  });
});
