import { beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
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
});

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
    stdout: "No file has changed.\n",
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

const TEXT = fc.string({ maxLength: 20 });
const ANY = fc.oneof(
  TEXT,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.dictionary(TEXT, fc.integer(), { maxKeys: 2 }),
);
const ADDRESS = fc.oneof(
  ANY,
  fc.constantFrom("https://example.com/a", "https://example.com/${A}", "https://b.example/$${B}"),
);
const FUNCTION = fc.record(
  {
    name: fc.oneof(ANY, fc.constantFrom("f", "F", "g")),
    description: ANY,
    parameters: ANY,
    serverUrl: ADDRESS,
    secretKey: ANY,
    type: fc.constantFrom("function", 1),
    function: fc.oneof(ANY, fc.record({ name: fc.constantFrom("f", "g") })),
    server: fc.oneof(ANY, fc.record({ url: ADDRESS, secret: ANY }, { requiredKeys: [] })),
    other: ANY,
  },
  { requiredKeys: [] },
);

test("whatever functions the server has stored, apply takes what pull writes", async () => {
  const functions = [
    { name: "f", serverUrl: "https://example.com/a", secretKey: 12_345 },
    {
      name: "f",
      server: { url: "https://example.com/a", secret: "hidden-in-server" },
      secretKey: "hidden-1",
    },
    { name: "f", serverUrl: "https://example.com/a", secretKey: "hidden-2" },
    ...fc.sample(FUNCTION, { numRuns: 60, seed: 7 }),
  ];
  const { api, secretKey } = await running.otherOrganization();
  const { createAssistant } = await api.gql('mutation { createAssistant(input: { name: "A" }) { id } }');
  await api.gql(
    "mutation ($id: ID!, $chat: UpdateChatConfigurationInput!) { updateChatConfiguration(assistantId: $id, input: $chat) { id } }",
    { id: createAssistant.id, chat: { functions } },
  );
  const place = workplace({ url: running.url, secretKey });
  expect(await place.run(["pull", "."])).toMatchObject({ code: 0, stderr: "" });
  const text = place.read("assistants/a.yaml");
  expect(text).not.toMatch(/hidden-|12345/);
  const variables = [...text.matchAll(/(?<!\$)\$\{(\w+_SECRET\w*)\}/g)].map(([, name]) => name!);
  expect(new Set(variables).size).toBe(variables.length);
  expect(await place.run(["diff", "."])).toMatchObject({ code: 0, stderr: "" });

  const other = await running.otherOrganization();
  const secrets = Object.fromEntries(variables.map((name) => [name, `secret of ${name}`]));
  const there = new Workplace(place.folder, { url: running.url, secretKey: other.secretKey }, secrets);
  expect(await there.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  const again = workplace(there.running);
  expect((await again.run(["pull", "."])).code).toBe(0);
  expect(again.files()).toEqual(place.files());
});
