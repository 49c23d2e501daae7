import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { upload } from "../support/files";
import { statementsOf } from "../support/plans";

/** Statements that read an entry of the index for each file. */
const COUNT = /count\(\*\) as files/;

describe("uploads far from the limits of an organization", () => {
  const running = useApp();

  test("count its files once, not for each upload", async () => {
    const { api } = await running.otherOrganization();
    await upload(api);
    const counts = await statementsOf(running.app.database, COUNT, async () => {
      for (let file = 0; file < 5; file++) await upload(api);
    });
    expect(counts).toEqual([]);
  });
});

describe("uploads near a limit", () => {
  const running = useApp({ QUOTA_FILES: "100" });

  test("count the files for each upload", async () => {
    const { api } = await running.otherOrganization();
    await upload(api);
    const counts = await statementsOf(running.app.database, COUNT, () => upload(api));
    expect(counts.length).toBeGreaterThan(0);
  });
});
