import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { importerOf } from "../support/importers";
import { afterTests, emptyFolder, runToEnd } from "../support/server";
import { retellSample, vapiSample } from "../support/vendor-samples";

const running = useApp();

const MAKES_ONE = "`npm run --silent key:create -- --import`";
let files: Readonly<Record<string, string>>;
let keys: Readonly<Record<string, string>>;
beforeAll(async () => {
  const folder = emptyFolder(afterTests);
  files = Object.fromEntries(
    Object.entries({ vapi: vapiSample, retell: retellSample }).map(([vendor, sample]) => {
      const file = join(folder, `${vendor}.json`);
      writeFileSync(file, JSON.stringify(sample));
      return [vendor, file];
    }),
  );
  const { api, secretKey, publicKey } = await running.otherOrganization();
  const { value: reading } = await api.post("/rest/v1/organization/keys", { permissions: ["read"] }, 200);
  const importing = (await importerOf(api)).headers["X-API-Key"]!;
  keys = { full: secretKey, public: publicKey, reading, importing, unknown: "parley_sk_unknown", none: "" };
});

const importWith = (key: string, ...args: string[]) =>
  runToEnd("cli/import", { PARLEY_URL: running.url, PARLEY_KEY: keys[key]! }, ...args);
const ofSource = (key: string) => ["rest", "--from", running.url, "--from-key", keys[key]!];

describe("an import that has stored nothing says what to change, and the command to run then, if the key of the target", () => {
  test.each([
    ["may not import", "full", `lacks the permission "import"`],
    ["may only read", "reading", `lacks the permission "import"`],
    ["is PUBLIC", "public", "A PUBLIC key may only run operations of the widget."],
    ["is unknown", "unknown", "This API key is incomplete or mistyped"],
    ["is empty", "none", "Name a SECRET key that may import with --key or PARLEY_KEY"],
  ])("%s", async (_, key, reason) => {
    const { code, stderr, stdout } = await importWith(key, "vapi", files.vapi!);
    expect([code, stderr, stdout]).toEqual([1, expect.stringContaining(reason), ""]);
    expect(stderr).toContain("--key or PARLEY_KEY");
    expect(stderr).toContain(MAKES_ONE);
    expect(stderr).not.toMatch(/stays|again|--permissions/);
    const command = `Then run this command:\n  npm run --silent import -- vapi ${files.vapi}\n`;
    if (key !== "none") expect(stderr).toContain(command);
  });
});

test("an import of an organization with a key that may not import says what to change", async () => {
  const { code, stderr } = await importWith("full", ...ofSource("full"));
  expect([code, stderr]).toEqual([1, expect.stringContaining('lacks the permission "import"')]);
  expect(stderr).toContain(MAKES_ONE);
  expect(stderr).not.toMatch(/stays|again/);
});

test.each([["public"], ["unknown"]])(
  "an import with a source key that is %s says which key to change",
  async (key) => {
    const { code, stderr, stdout } = await importWith("importing", ...ofSource(key));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Check --from-key or PARLEY_FROM_KEY: it must be a SECRET key of the source.");
    expect(stderr).toContain(
      `Then run this command:\n  npm run --silent import -- rest --from ${running.url} --from-key KEY\n`,
    );
    expect(stderr).not.toMatch(/stays|again/);
  },
);

test("--key names the source if PARLEY_KEY names the target and nothing else the source", async () => {
  const { code, stdout, stderr } = await importWith(
    "importing",
    ...["rest", "--from", running.url, "--key", keys.full!],
  );
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining("assistants: "), ""]);
  const ofVendor = await importWith("importing", "vapi", "--from", running.url, "--key", "of the vendor");
  expect(ofVendor.stderr).toContain("The source");
});

test("an address without a Parley server is named, without advice to run the command again", async () => {
  const { code, stderr } = await importWith("importing", "vapi", files.vapi!, "--url", `${running.url}/none`);
  expect([code, stderr]).toEqual([1, expect.stringContaining("--url must be the address")]);
  expect(stderr).not.toMatch(/stays|again/);
});

test("an import that cannot begin prints the command that tries again, and claims nothing", async () => {
  const away = ["--url", "http://127.0.0.1:2", "--wait", "0"];
  const { code, stderr } = await importWith("importing", "vapi", files.vapi!, ...away);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("The target at http://127.0.0.1:2 cannot be reached"),
  ]);
  expect(stderr).toContain(
    `To try again, run the same command:\n  npm run --silent import -- vapi ${files.vapi} ${away.join(" ")}`,
  );
  expect(stderr).not.toContain("stays");
});

test("a report that cannot be written is refused before anything is imported", async () => {
  const folder = emptyFolder();
  const none = join(folder, "none");
  for (const [path, reason] of [
    [join(none, "report.json"), `there is no folder ${none}.`],
    [join(files.vapi!, "report.json"), `${files.vapi} is not a folder.`],
    [folder, `${folder} is a folder.`],
  ] as const) {
    const { code, stdout, stderr } = await importWith("importing", "vapi", files.vapi!, "--report", path);
    expect([code, stdout, stderr]).toEqual([...[1, "", `--report cannot be written: ${reason}\n`]]);
  }
  const path = join(folder, "report.json");
  await importWith("full", "vapi", files.vapi!, "--report", path);
  expect(existsSync(path)).toBe(false);
});

describe("a file", () => {
  test.each(["vapi", "retell"])("of %s is imported although PARLEY_FROM_KEY is set", async (vendor) => {
    const { url } = running;
    const env = { PARLEY_URL: url, PARLEY_KEY: keys.importing!, PARLEY_FROM_KEY: "key of another service" };
    const { code, stdout } = await runToEnd("cli/import", env, vendor, files[vendor]!);
    expect([code, stdout]).toEqual([0, expect.stringContaining("assistants: 1 imported")]);
  });

  test.each(["vapi", "retell"])("of %s and --from-key exclude each other", async (vendor) => {
    for (const args of [[files[vendor]!, "--from-key", "k"], []]) {
      const { code, stderr } = await importWith("importing", vendor, ...args);
      expect([code, stderr]).toEqual([1, expect.stringContaining("Name either a file, or a key")]);
    }
  });
});
