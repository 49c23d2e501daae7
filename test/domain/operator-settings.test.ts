import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, jest, test } from "@jest/globals";
import { guardedStorage } from "../../src/assistants/files/file-store";
import { explainPort, refuseUnreachable } from "../../src/cli/connect/target";
import { KEYS_PLACEHOLDER, readConfig, SETTINGS } from "../../src/platform/settings/config";
import { loadSettings } from "../../src/platform/settings/load-settings";
import { localUrl } from "../../src/platform/settings/local-url";
import { misspelledSettings } from "../../src/platform/settings/misspelled";
import { publicError } from "../../src/platform/errors";
import { localStorage } from "../../src/platform/providers/local-storage";

describe("the example of ENCRYPTION_KEYS in the documentation", () => {
  const key = "k".repeat(32);
  test("is refused as the first key, alone and before others", () => {
    const guide = readFileSync(join(__dirname, "../../docs/deployment.md"), "utf8");
    expect(guide).toContain(`ENCRYPTION_KEYS='${KEYS_PLACEHOLDER}'`);
    for (const keys of [KEYS_PLACEHOLDER, `${KEYS_PLACEHOLDER},${key}`])
      expect(() => readConfig({ ENCRYPTION_KEYS: keys })).toThrow(
        "ENCRYPTION_KEYS must not be the example of the documentation",
      );
  });

  test("is accepted as a former key, to rotate it", () => {
    const { ENCRYPTION_KEYS } = readConfig({ ENCRYPTION_KEYS: `${key},${KEYS_PLACEHOLDER}` });
    expect(ENCRYPTION_KEYS).toEqual([key, KEYS_PLACEHOLDER]);
  });
});

test.each([
  ["fe80::1%eth0", "http://[fe80::1]:4000"],
  ["::1", "http://[::1]:4000"],
  ["::", "http://localhost:4000"],
  ["127.0.0.1", "http://127.0.0.1:4000"],
])("HOST %s has the URL %s", (host, url) => {
  expect(localUrl(host, 4000)).toBe(url);
  expect(new URL(url).origin).toBe(url);
});

describe("PUBLIC_BASE_URL", () => {
  test.each(["/parley", "/a/b/", "/?tenant=1", "#top"])("is refused with %s after the host name", (rest) => {
    expect(() => readConfig({ PUBLIC_BASE_URL: `https://example.com${rest}` })).toThrow(
      "PUBLIC_BASE_URL must be a URL that ends after the host name or port, such as https://parley.example.com: the pages of Parley work only at the root of a host name or port of their own",
    );
  });

  test("is refused with a password, which the message does not repeat", () => {
    const read = () => readConfig({ PUBLIC_BASE_URL: "https://parley:s3cret@example.com" });
    expect(read).toThrow("PUBLIC_BASE_URL must be a URL without a user and password");
    expect(read).not.toThrow("s3cret");
  });

  test.each([
    ["https://example.com", "https://example.com"],
    ["https://Example.com:443//", "https://example.com"],
    ["http://[::1]:4000/?#", "http://[::1]:4000"],
  ])("%s is the address %s", (url, address) => {
    expect(readConfig({ PUBLIC_BASE_URL: url }).PUBLIC_BASE_URL).toBe(address);
  });
});

describe("an empty DATABASE_URL", () => {
  /** What reading the settings prints. */
  const printed = (env: Record<string, string>) => {
    jest.replaceProperty(process, "env", env);
    const print = jest.spyOn(console, "error").mockReturnValue();
    try {
      expect(loadSettings().settings.embedded).toBe(true);
      return print.mock.calls.map(([line]) => line as string);
    } finally {
      jest.restoreAllMocks();
    }
  };

  test.each(["", " "])("(%j) is reported, because another database is used", (DATABASE_URL) => {
    expect(printed({ DATABASE_URL })).toEqual([
      "Warning: DATABASE_URL is empty, which counts as not set: the embedded PostgreSQL is used.",
    ]);
  });

  test("is not reported if it is not set", () => expect(printed({ HOST: "" })).toEqual([]));
});

describe("a name in .env", () => {
  test.each(["MODEL_URL", "PUBLIC_URL", "FOO", "KEYS"])("that nothing reads is reported: %s", (name) => {
    expect(misspelledSettings({ [name]: "x" }, [name])).toEqual([
      `${name} in .env is not a setting and has no effect.`,
    ]);
    expect(misspelledSettings({ [name]: "x" })).toEqual([]); // the environment has variables of other programs
  });

  test("that is misspelled, beside the correct one, is reported with it", () => {
    const env = { MODEL_NAMEE: "x", MODEL_NAME: "y" };
    expect(misspelledSettings(env, Object.keys(env))).toEqual([
      "MODEL_NAMEE in .env is not a setting and has no effect. Did you mean MODEL_NAME?",
    ]);
  });

  test("that is misspelled is reported once", () => {
    expect(misspelledSettings({ DATABSE_URL: "x" }, ["DATABSE_URL"])).toEqual([
      "DATABSE_URL is not a setting and has no effect. Did you mean DATABASE_URL?",
    ]);
  });

  test.each([
    ...Object.keys(SETTINGS),
    ...["NODE_ENV", "NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "PGSSLMODE", "npm_config_registry", "HTTPS_PROXY"],
    ...["no_proxy", "MISTRAL_API_KEY", "MISTRAL_BASE_URL", "AWS_REGION", "TZ", "OLLAMA_HOST"],
  ])("that something reads is not reported: %s", (name) => {
    expect(misspelledSettings({ [name]: "x" }, [name])).toEqual([]);
  });
});

describe("a folder of files that cannot be used", () => {
  // A file in the place of the folder: root may use a folder whatever its mode.
  const storage = guardedStorage(localStorage(__filename), () => Promise.resolve(true));
  test.each([
    ["put", () => storage.put("organization/id", Readable.from(["x"]))],
    ["get", () => storage.get("organization/id")],
    ["has", () => storage.has("organization/id")],
  ])("makes %s UNAVAILABLE", async (_name, work) => {
    const error: unknown = await work().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(publicError(error)).toEqual({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/^The server cannot use its file storage \(E[A-Z]+\)\./),
    });
  });

  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
  test.each([
    ...["EACCES", "EROFS", "EIO", "EPERM", "ESTALE"],
    ...["ECONNREFUSED", "EPIPE", "EPROTO", "ENOTFOUND", "DEPTH_ZERO_SELF_SIGNED_CERT", "CERT_HAS_EXPIRED"],
  ])("with %s makes everything UNAVAILABLE", async (code) => {
    const fail = failing(code);
    const bad = { put: fail, get: fail, has: fail, remove: fail, list: localStorage(__filename).list };
    const guarded = guardedStorage(bad, () => Promise.resolve(true));
    for (const work of [guarded.get, guarded.has, guarded.remove])
      await expect(work("a/b")).rejects.toMatchObject({ code: "UNAVAILABLE", cause: { code } });
    await expect(guarded.put("a/b", Readable.from([]))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const unreachable = guardedStorage(bad, fail);
    await expect(unreachable.get("a/b")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

test.each([
  [6000, "cannot be reached: Node sends no HTTP requests to port 6000"],
  [4190, "cannot be reached: Node sends no HTTP requests to port 4190"],
  [1, "cannot be reached: Node sends no HTTP requests to port 1,"],
])("an address of a model with the reserved port %i is explained", async (port, said) => {
  await expect(refuseUnreachable(`http://127.0.0.1:${port}/v1`)).rejects.toThrow(said);
  expect(explainPort("Cannot connect to API: bad port", `http://127.0.0.1:${port}/v1`)).toContain(
    `port ${port}`,
  );
});
