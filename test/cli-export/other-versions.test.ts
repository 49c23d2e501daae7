import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { importerOf } from "../support/importers";
import { afterTest, emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";

const source = useApp();
const target = useApp();

test(
  "an import names the versions whose numbers other versions have here, and ends with 2",
  async () => {
    const [from, to] = [await source.otherOrganization(), await target.otherOrganization()];
    const key = (await importerOf(to.api)).headers["X-API-Key"]!;
    const id = await newAssistant(from.api);
    const say = (where: typeof from, prompt: string) =>
      where.api.patch(`/rest/v1/assistants/${id}/chat`, { prompt }, 200);
    let exports = 0;
    const move = async () => {
      const folder = join(emptyFolder(afterTest), `export-${++exports}`);
      const given = { PARLEY_URL: source.url, PARLEY_KEY: from.secretKey };
      expect((await runToEnd("cli/export", given, folder)).code).toBe(0);
      return runToEnd("cli/import", { PARLEY_URL: target.url, PARLEY_KEY: key }, "parley", folder);
    };
    await say(from, "Be brief.");
    expect(await move()).toMatchObject({ code: 0, stdout: expect.not.stringContaining("another version") });
    expect(await move()).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing has changed") });

    await say(to, "Changed at the target.");
    await say(from, "Changed at the source.");
    const same = await move();
    expect([same.code, same.stdout]).toEqual([
      2,
      expect.stringContaining(`Version 3 of the assistant ${id}: `),
    ]);
    await say(from, "Changed again.");
    const later = await move();
    expect([later.code, later.stdout]).toEqual([
      2,
      expect.stringContaining(`Version 3 of the assistant ${id}: `),
    ]);
    expect(later.stdout).not.toContain("Version 2 ");
  },
  4 * SERVER_TIMEOUT_MS,
);
