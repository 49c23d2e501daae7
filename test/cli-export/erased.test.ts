import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { forget } from "../support/erasures";
import { emptyFolder, runToEnd, SERVER_TIMEOUT_MS } from "../support/server";
import { filesIn, fillOrganization, linesIn } from "./organization";

const running = useApp({ WORKER: "on" });

test(
  "an export after the erasure of a person contains nothing of them, and everything of others",
  async () => {
    const { api, secretKey } = await running.otherOrganization();
    await fillOrganization(api);
    const exported = async () => {
      const folder = join(emptyFolder(), "export");
      const env = { PARLEY_URL: running.url, PARLEY_KEY: secretKey };
      expect(await runToEnd("cli/export", env, folder)).toMatchObject({ code: 0 });
      return folder;
    };
    const before = await exported();
    const words = (folder: string) =>
      new Set(
        Object.values(filesIn(folder))
          .join()
          .match(/Question \d+|person-\d/g),
      );
    expect(words(before)).toContain("Question 0");
    await forget({ api }, { uniqueId: "person-0" });
    const after = await exported();
    const gone = [...words(before)].filter((one) => !words(after).has(one));
    expect(gone.sort()).toEqual(["Question 0", "Question 6", "person-0"]);
    expect(linesIn(after, "logs.ndjson")).toHaveLength(linesIn(before, "logs.ndjson").length - 2);
    const facts = (folder: string) => linesIn(folder, "end-users.ndjson").map(({ uniqueId }) => uniqueId);
    expect(facts(before).filter((id) => !facts(after).includes(id))).toEqual(["person-0"]);
  },
  2 * SERVER_TIMEOUT_MS,
);
