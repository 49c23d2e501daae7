import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { emptyFolder } from "../support/server";
import { snippetsOf } from "../support/snippets";
import { Workplace } from "./folders";

const running = useApp();

test("the records of the page about files are applied without a problem or a warning", async () => {
  const place = new Workplace(emptyFolder(), running, { FIND_ORDER_SECRET: "one", CRM_SECRET: "another" });
  const snippets = snippetsOf("docs/files-in-git.md").filter(
    ({ language, notRun }) => language === "yaml" && notRun === undefined,
  );
  const paths = snippets.map(({ code }) => /^# (\S+)/.exec(code)![1]!);
  expect(paths.map((path) => path.split("/")[1]).sort()).toEqual([
    "assistants",
    "deployments",
    "webhooks",
    "workflows",
  ]);
  for (const [index, { code }] of snippets.entries()) place.write(paths[index]!, code);
  place.write("parley/assistants/front-desk/chat-prompt.md", "You answer briefly.\n");
  place.write("parley/assistants/front-desk/files/hours.txt", "We open at nine.");
  const { code, stdout, stderr } = await place.run(["apply"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("4 to create, 0 to change, 0 to delete.");
  expect(stdout).not.toContain("Warning");
  expect(await place.run(["diff"])).toMatchObject({ code: 0 });
});
