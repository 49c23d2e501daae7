import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { importerOf } from "../support/importers";
import { afterTest, emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";

const source = useApp();
const target = useApp();

test(
  "an import names the versions whose numbers other versions have here in one line, and ends with 2",
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
    expect(await move()).toMatchObject({ code: 0, stdout: expect.not.stringContaining("Another version") });
    expect(await move()).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing has changed") });

    for (const prompt of ["Changed", "Changed twice"]) {
      await say(to, `${prompt} at the target.`);
      await say(from, `${prompt} at the source.`);
    }
    /** The numbers in each line about them. */
    const told = (stdout: string) =>
      stdout
        .split("\n")
        .filter((line) => line.includes("- Another version has the number of this one here."))
        .map((line) => [...line.matchAll(/, version (\d+)/g)].map(([, number]) => number).sort());
    const same = await move();
    expect([same.code, told(same.stdout)]).toEqual([2, [["3", "4"]]]);
    await say(from, "Changed again.");
    const later = await move();
    expect([later.code, told(later.stdout)]).toEqual([2, [["3", "4", "5"]]]);
  },
  4 * SERVER_TIMEOUT_MS,
);
