import { beforeAll, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { emptyFolder } from "../support/server";
import { makeRecords, PROMPT, Workplace } from "./folders";

const running = useApp();
const SECRETS = {
  FRONT_DESK_CHAT_FIND_ORDER_SECRET: "a-stored-secret",
  FRONT_DESK_CHAT_BOOK_SECRET: "another-secret",
  CRM_SECRET: "a-hook-secret",
};
let assistantId: string;
beforeAll(async () => {
  assistantId = await makeRecords(running.api);
}, 30_000);

const workplace = (server: { url: string; secretKey: string } = running, environment = {}) =>
  new Workplace(emptyFolder(), server, environment);

test("a pull, an apply to an empty organization and another pull give the same bytes", async () => {
  const place = workplace();
  const pulled = await place.run(["pull", "."]);
  expect([pulled.code, pulled.stderr]).toEqual([0, ""]);
  expect(Object.keys(place.files())).toEqual([
    "assistants/front-desk.yaml",
    "assistants/front-desk/chat-prompt.md",
    "assistants/front-desk/files/hours.txt",
    "deployments/api-intake.yaml",
    "deployments/text-bubble-front-desk.yaml",
    "webhooks/crm.yaml",
    "workflows/intake.yaml",
    "workflows/intake/talk.md",
  ]);
  expect(place.read("assistants/front-desk/chat-prompt.md")).toBe(`${PROMPT}\n`);
  expect(JSON.stringify(place.files())).not.toMatch(/a-stored-secret|another-secret|a-hook-secret/);
  expect((await place.run(["diff", "."])).code).toBe(0);
  expect(await place.run(["pull", "."])).toMatchObject({
    code: 0,
    stdout: "The files have everything that the server has.\n",
  });

  const other = await running.otherOrganization();
  const target = { url: running.url, secretKey: other.secretKey };
  const elsewhere = new Workplace(place.folder, target, SECRETS);
  const applied = await elsewhere.run(["apply", "."]);
  expect([applied.code, applied.stderr]).toEqual([0, ""]);
  expect(await elsewhere.run(["apply", "."])).toMatchObject({
    code: 0,
    stdout: "The server has everything that the files say.\n",
  });
  const again = workplace(target);
  expect((await again.run(["pull", "."])).code).toBe(0);
  expect(again.files()).toEqual(place.files());
  const query =
    "{ assistants { data { missingVariables chat { functions } } } webhookDestinations { secret } }";
  const [here, there] = await Promise.all([running.api.gql(query), other.api.gql(query)]);
  expect(there).toEqual(here);
  expect(here.assistants.data[0].missingVariables).toBe("BLANK");
  expect(assistantId).toBeDefined();
});
