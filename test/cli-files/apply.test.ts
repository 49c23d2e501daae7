import { beforeAll, describe, expect, test } from "@jest/globals";
import Ajv from "ajv";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { emptyFolder } from "../support/server";
import { tornReads } from "../support/torn-reads";
import { beforeFirstMutation, makeRecords, Workplace } from "./folders";

const running = useApp();
const SECRETS = {
  FRONT_DESK_CHAT_FIND_ORDER_SECRET: "a-stored-secret",
  FRONT_DESK_CHAT_BOOK_SECRET: "another-secret",
  CRM_SECRET: "a-hook-secret",
};
const SAME = { code: 0, stdout: "The server has everything that the files say.\n", stderr: "" };
let files: Record<string, string>;
beforeAll(async () => {
  await makeRecords(running.api);
  const place = new Workplace(emptyFolder(), running);
  await place.run(["pull", "."]);
  files = place.files();
});

/** The files of the first organization beside an organization without records. */
async function fresh(environment: Readonly<Record<string, string>> = SECRETS) {
  const { api, secretKey } = await running.otherOrganization();
  const place = new Workplace(emptyFolder(), { url: running.url, secretKey }, environment);
  for (const [path, content] of Object.entries(files)) place.write(path, content);
  return {
    api,
    place,
    with: (more: object) => new Workplace(place.folder, place.running, { ...environment, ...more }),
  };
}

const COUNTS =
  "{ assistants { data { key name description files { name } } } workflows { key nodes { name } edges { id } } webhookDestinations { key } deployments { key } }";
const NODES = "{ workflows { nodes { id name } edges { id } } }";
const functionsOf = async (api: Api): Promise<{ name: string; secretKey?: string }[]> =>
  (await api.gql("{ assistants { data { chat { functions } } } }")).assistants.data[0].chat.functions;

test("diff shows what apply changes, with exit code 2, and apply changes just that", async () => {
  const { place, api } = await fresh();
  expect(await place.run(["apply", ".", "--dry-run"])).toMatchObject({
    code: 2,
    stdout: expect.stringContaining("5 to create, 0 to change, 0 to delete."),
  });
  expect((await api.gql(COUNTS)).assistants.data).toEqual([]);
  expect((await place.run(["apply", "."])).code).toBe(0);
  place.replace("assistants/front-desk.yaml", "temperature: 0.3", "temperature: 0.9");
  place.replace("assistants/front-desk/chat-prompt.md", "receptionist", "bouncer");
  const { code, stdout } = await place.run(["diff", "."]);
  expect(code).toBe(2);
  expect(stdout).toContain("~ assistant front-desk\n");
  expect(stdout).toContain("    chat.temperature: 0.3 → 0.9\n");
  expect(stdout).toContain(
    "      -You are the receptionist of {company}.\n      +You are the bouncer of {company}.\n",
  );
  expect(stdout).not.toContain("voice");
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect(await place.run(["apply", "."])).toEqual(SAME);
  const { data } = (await api.gql("{ assistants { data { chat { temperature } voice { temperature } } } }"))
    .assistants;
  expect(data).toEqual([{ chat: { temperature: 0.9 }, voice: { temperature: 0.7 } }]);
});

test("a field that a file leaves out keeps its value, and null clears it", async () => {
  const { place, api } = await fresh();
  place.write("assistants/b.yaml", "key: b\nname: B\ndescription: Old\n");
  await place.run(["apply", "."]);
  const description = async () =>
    (await api.gql("{ assistants { data { key description } } }")).assistants.data.find(
      ({ key }: { key: string }) => key === "b",
    ).description as unknown;
  place.write("assistants/b.yaml", "key: b\nname: B\n");
  expect(await place.run(["apply", "."])).toEqual(SAME);
  expect(await description()).toBe("Old");
  place.write("assistants/b.yaml", "key: b\nname: B\ndescription: null\n");
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect(await description()).toBeNull();
});

describe("a secret", () => {
  test("must be in the environment if the server has none", async () => {
    const { place, api } = await fresh({});
    const { code, stderr } = await place.run(["apply", "."]);
    expect([code, stderr.trim().split("\n")]).toEqual([
      1,
      [
        expect.stringMatching(
          /^assistants\/front-desk\.yaml:\d+:18: The function "find_order" needs the environment variable FRONT_DESK_CHAT_FIND_ORDER_SECRET, which is not set: the server has no assistant with the key "front-desk" yet\.$/,
        ),
        expect.stringContaining("FRONT_DESK_CHAT_BOOK_SECRET"),
        expect.stringMatching(/^webhooks\/crm\.yaml:4:9: The environment variable CRM_SECRET is not set/),
      ],
    ]);
    expect((await api.gql(COUNTS)).assistants.data).toEqual([]);
  });

  test("that is replaced while apply runs stays so if its variable is not set", async () => {
    const { place, api } = await fresh();
    await place.run(["apply", "."]);
    const { id } = (await api.gql("{ assistants { data { id } } }")).assistants.data[0];
    const [order, book] = (await functionsOf(api)) as [object, { server: object }];
    const functions = [
      { ...order, secretKey: "a-rotated-secret" },
      { ...book, server: { ...book.server, secret: "another-rotated-secret" } },
    ];
    const rotate = () => api.patch(`/rest/v1/assistants/${id}/chat`, { functions }, 200);
    const bare = new Workplace(place.folder, place.running);
    bare.replace("assistants/front-desk.yaml", "Finds an order", "Finds one");
    expect(await bare.runBeside(rotate, ["apply", "."])).toMatchObject({ code: 0, stderr: "" });
    expect(await functionsOf(api)).toMatchObject([
      { description: "Finds one", secretKey: "a-rotated-secret" },
      { server: { secret: "another-rotated-secret" } },
    ]);
    expect(await bare.run(["apply", "."])).toEqual(SAME);
  });

  test("of each of two functions with one name and address stays, and of one without a name that moves", async () => {
    const { place, api } = await fresh();
    const item = (start: string, variable: string) =>
      `    - ${start}serverUrl: https://example.com\n      secretKey: \${${variable}}\n`;
    const twin = "name: twin\n      ";
    const all = item(twin, "ONE") + item(twin, "TWO") + item("", "THREE");
    place.write("assistants/a.yaml", `key: a\nname: A\nchat:\n  functions:\n${all}`);
    const secrets = { ...SECRETS, ONE: "one", TWO: "two", THREE: "three" };
    const set = new Workplace(place.folder, place.running, secrets);
    expect((await set.run(["apply", "."])).code).toBe(0);
    place.replace("assistants/a.yaml", "functions:\n", "functions:\n    - name: first\n");
    expect((await place.run(["apply", "."])).code).toBe(0);
    const { data } = (await api.gql("{ assistants { data { key chat { functions } } } }")).assistants;
    const found = data.find(({ key }: { key: string }) => key === "a").chat.functions;
    expect(found.map(({ secretKey }: { secretKey?: string }) => secretKey)).toEqual([
      undefined,
      ...["one", "two", "three"],
    ]);
  });

  test("of one of two functions with one name and address does not become that of the other", async () => {
    const { place, api } = await fresh();
    const twin = (variable: string) =>
      `    - name: twin\n      serverUrl: https://example.com\n      secretKey: \${${variable}}\n`;
    const write = (...variables: string[]) =>
      place.write(
        "assistants/a.yaml",
        `key: a\nname: A\nchat:\n  functions:\n${variables.map(twin).join("")}`,
      );
    const set = new Workplace(place.folder, place.running, { ...SECRETS, ONE: "one", TWO: "two" });
    const secrets = async () => {
      const { data } = (await api.gql("{ assistants { data { key chat { functions } } } }")).assistants;
      const { functions } = data.find(({ key }: { key: string }) => key === "a").chat;
      return functions.map(({ secretKey }: { secretKey?: string }) => secretKey);
    };
    const problem = (place: string, variable: string, reason: string) =>
      `assistants/a.yaml:${place}: The function "twin" needs the environment variable ${variable}, which is not set: ${reason}.\n`;
    write("ONE");
    expect((await set.run(["apply", "."])).code).toBe(0);
    write("ONE", "TWO");
    expect(await place.run(["apply", "."])).toMatchObject({
      code: 1,
      stderr: problem("10:18", "TWO", "the server has no secret for it yet"),
    });
    expect((await set.run(["apply", "."])).code).toBe(0);
    write("TWO");
    const unclear =
      "the server has several functions with this name and address, so it is unclear whose secret to keep";
    expect(await place.run(["apply", "."])).toMatchObject({
      code: 1,
      stderr: problem("7:18", "TWO", unclear),
    });
    expect(await secrets()).toEqual(["one", "two"]);
    expect((await set.run(["apply", "."])).code).toBe(0);
    expect(await secrets()).toEqual(["two"]);
  });

  test("stays if its variable is not set, and changes with it", async () => {
    const { place, api } = await fresh();
    await place.run(["apply", "."]);
    const bare = new Workplace(place.folder, place.running);
    expect(await bare.run(["apply", "."])).toEqual(SAME);
    bare.replace("assistants/front-desk.yaml", "Finds an order", "Finds one");
    expect((await bare.run(["apply", "."])).code).toBe(0);
    expect((await functionsOf(api))[0]).toMatchObject({
      description: "Finds one",
      secretKey: "a-stored-secret",
    });

    const rotated = new Workplace(place.folder, place.running, {
      FRONT_DESK_CHAT_FIND_ORDER_SECRET: "a-rotated-secret",
      CRM_SECRET: "a-rotated-hook-secret",
    });
    const { code, stdout } = await rotated.run(["apply", "."]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("secretKey: (new)")]);
    expect(stdout).not.toMatch(/a-rotated|a-stored|a-hook/);
    expect((await functionsOf(api))[0]!.secretKey).toBe("a-rotated-secret");
    expect((await api.gql("{ webhookDestinations { secret } }")).webhookDestinations[0].secret).toBe(
      "a-rotated-hook-secret",
    );
    expect(await rotated.run(["apply", "."])).toEqual(SAME);
  });

  test("is not sent to another origin", async () => {
    const { place, api } = await fresh();
    await place.run(["apply", "."]);
    const bare = new Workplace(place.folder, place.running);
    bare.replace("assistants/front-desk.yaml", "https://example.com/find", "https://elsewhere.example/find");
    const { code, stderr } = await bare.run(["apply", "."]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("the stored secret is for another address")]);
    expect((await functionsOf(api))[0]).toMatchObject({ serverUrl: "https://example.com/find" });
  });
});

test("a secret with a line break is refused, because no request could carry it", async () => {
  const { place, with: set } = await fresh();
  const { code, stderr } = await set({ CRM_SECRET: "a-secret\n" }).run(["apply", "."]);
  const message = "The environment variable CRM_SECRET has a line break or another control character.\n";
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  expect(place.read("webhooks/crm.yaml")).toContain("${CRM_SECRET}");
});

test("an address may name a variable, which pull leaves", async () => {
  const { place, with: set } = await fresh();
  place.replace("webhooks/crm.yaml", "https://example.com", "${BASE}");
  const { code, stderr } = await place.run(["apply", "."]);
  expect([code, stderr]).toEqual([1, "webhooks/crm.yaml:3:6: The environment variable BASE is not set.\n"]);
  const staging = set({ BASE: "https://staging.example" });
  expect((await staging.run(["apply", "."])).code).toBe(0);
  const text = place.read("webhooks/crm.yaml");
  expect((await staging.run(["pull", "."])).stdout).toBe("No file has changed.\n");
  expect(place.read("webhooks/crm.yaml")).toBe(text);
});

test("a variable is a text after another $, which pull writes", async () => {
  const { place, api } = await fresh();
  place.write(
    "assistants/b.yaml",
    "key: b\nname: B\nchat:\n  functions:\n    - name: f\n      serverUrl: https://example.com/$${BASE}/$$${BASE}/${BASE}/$$/${\n",
  );
  const set = new Workplace(place.folder, place.running, { ...SECRETS, BASE: "b" });
  expect(await set.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  const { data } = (await api.gql("{ assistants { data { key chat { functions } } } }")).assistants;
  expect(data.find(({ key }: { key: string }) => key === "b").chat.functions[0].serverUrl).toBe(
    "https://example.com/${BASE}/$${BASE}/b/$$/${",
  );
  const elsewhere = new Workplace(emptyFolder(), place.running);
  expect((await elsewhere.run(["pull", "."])).code).toBe(0);
  expect(elsewhere.read("assistants/b.yaml")).toContain(
    "serverUrl: https://example.com/$${BASE}/$$${BASE}/b/$$/${\n",
  );
  expect(await elsewhere.run(["apply", "."])).toEqual(SAME);
});

test("what is in braces after a $ is sent as it is with a warning, unless it is a variable or escaped", async () => {
  const { place, api } = await fresh();
  const address = "https://example.com/${CRM TOKEN}/${}/${2}/${/$${a-b}";
  place.write(
    "assistants/b.yaml",
    `key: b\nname: B\nchat:\n  prompt: "${"${no variable here}"}"\n  functions:\n    - name: f\n      serverUrl: ${address}\n`,
  );
  place.write("webhooks/w.yaml", "key: w\nurl: https://example.com/${2}/${2}\nsecret: ${CRM_SECRET}\n");
  const expected = [
    ["assistants/b.yaml:7:18", "${CRM TOKEN}"],
    ["assistants/b.yaml:7:18", "${}"],
    ["assistants/b.yaml:7:18", "${2}"],
    ["webhooks/w.yaml:2:6", "${2}"],
  ].map(
    ([at, text]) =>
      `${at}: Warning: "${text}" is not a variable and is sent as it is: names consist of letters, digits and _, and begin with a letter or _. If it is meant so, write a further $ before it.`,
  );
  const warnings = (stdout: string) => stdout.split("\n").filter((line) => line.includes("Warning"));
  for (const [args, code] of [
    [["validate", "."], 0],
    [["diff", "."], 2],
    [["apply", "."], 0],
    [["diff", "."], 0],
  ] as const) {
    const { stdout, ...rest } = await place.run(args);
    expect(rest).toEqual({ code, stderr: "" });
    expect(warnings(stdout).slice(0, expected.length)).toEqual(expected);
  }
  const { data } = (await api.gql("{ assistants { data { key chat { functions } } } }")).assistants;
  expect(data.find(({ key }: { key: string }) => key === "b").chat.functions[0].serverUrl).toBe(
    "https://example.com/${CRM TOKEN}/${}/${2}/${/${a-b}",
  );
  expect(warnings((await place.run(["pull", "."])).stdout)).toEqual([]);
  expect(place.read("assistants/b.yaml")).toContain(`serverUrl: ${address}\n`);
  const elsewhere = new Workplace(emptyFolder(), place.running);
  expect((await elsewhere.run(["pull", "."])).code).toBe(0);
  expect(elsewhere.read("assistants/b.yaml")).toContain(
    "serverUrl: https://example.com/$${CRM TOKEN}/$${}/$${2}/${/$${a-b}\n",
  );
  expect(warnings((await elsewhere.run(["validate", "."])).stdout)).toEqual([]);
  expect(await elsewhere.run(["apply", "."])).toEqual(SAME);
});

test("a variable that is read as another number than it is written gets a warning", async () => {
  const { place } = await fresh();
  place.write(
    "assistants/b.yaml",
    'key: b\nname: B\nvariables:\n  phone: +41441234567\n  zip: 01234\n  text: "01234"\n  count: 12\n  rate: 1.5\n',
  );
  const { code, stdout } = await place.run(["validate", "."]);
  expect(code).toBe(0);
  expect(stdout.split("\n").filter((line) => line.includes("Warning"))).toEqual([
    'assistants/b.yaml:4:10: Warning: +41441234567 is read as the number 41441234567. Write it in quotes if it is a text: "+41441234567".',
    'assistants/b.yaml:5:8: Warning: 01234 is read as the number 1234. Write it in quotes if it is a text: "01234".',
  ]);
});

test("a new assistant has its document as version 1, and each apply makes one more", async () => {
  const { place, api } = await fresh();
  const versions = async () => {
    const query =
      "{ assistants { data { versions(orderBy: OLDEST_FIRST) { nodes { number note document } } } } }";
    return (await api.gql(query)).assistants.data[0].versions.nodes as { number: number; document: object }[];
  };
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect(await versions()).toEqual([
    {
      number: 1,
      note: "Applied from files",
      document: expect.objectContaining({
        name: "Front désk",
        allowedOrigins: ["https://www.example.com"],
        fileIds: [expect.any(String)],
        chat: expect.objectContaining({ temperature: 0.3 }),
      }),
    },
  ]);
  place.replace("assistants/front-desk.yaml", "temperature: 0.3", "temperature: 0.9");
  place.write("assistants/front-desk/files/hours.txt", "Never");
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect((await versions()).map(({ number }) => number)).toEqual([1, 2]);
});

test("apply prints warnings of the server and problems of a workflow at their places", async () => {
  const { place } = await fresh();
  place.write(
    "assistants/b.yaml",
    "key: b\nname: B\nchat:\n  prompt: Hello {first name}\n  functions:\n    - name: f\n    - name: 5\nvariables: { a b: 1 }\n",
  );
  place.write(
    "workflows/w.yaml",
    "key: w\nname: W\nnodes:\n  s: { type: START, name: S }\n  e: { type: END, name: E }\nedges:\n  - { from: s, to: e }\n  - { from: e, to: s }\n",
  );
  const { code, stdout, stderr } = await place.run(["apply", "."]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^assistants\/b\.yaml:4:11: Warning: chat\.prompt: \{first name\} is not/m);
  expect(stdout).toMatch(
    /^assistants\/b\.yaml:6:7: Warning: chat\.functions\.0: The function f cannot be called/m,
  );
  expect(stdout).toMatch(/^assistants\/b\.yaml:7:7: Warning: chat\.functions\.1: The function has no name/m);
  expect(stdout).toMatch(
    /^assistants\/b\.yaml:8:12: Warning: variables: No text can refer to these names: "a b"/m,
  );
  expect(stdout).toMatch(/^workflows\/w\.yaml:8:5: Warning: An edge leads away from the END/m);
  place.replace("workflows/w.yaml", "  - { from: e, to: s }\n", "");
  place.replace("workflows/w.yaml", "  e: {", "  p: { type: PROMPT, name: P }\n  e: {");
  const changed = await place.run(["apply", "."]);
  expect(changed.stdout).toMatch(/^workflows\/w\.yaml:5:6: Warning: .*assistant/m);
  expect(changed.stdout).not.toContain("END node");
});

describe("apply asks to be run again if a record changes after it was read:", () => {
  const first = async (api: Api) =>
    (await api.gql("{ assistants { data { id } } }")).assistants.data[0].id as string;
  const CHANGES: [what: string, change: (api: Api) => Promise<unknown>, message: RegExp][] = [
    [
      "an assistant",
      async (api) =>
        api.gql(
          'mutation ($id: ID!) { updateAssistant(id: $id, input: { description: "Changed" }) { id } }',
          {
            id: await first(api),
          },
        ),
      /^Somebody has changed the assistant front-desk or what it names meanwhile\. Run the command again\.\n$/,
    ],
    [
      "an assistant that is deleted",
      async (api) =>
        api.gql("mutation ($id: ID!) { deleteAssistant(id: $id) { id } }", { id: await first(api) }),
      /^Somebody has changed the assistant front-desk or what it names meanwhile \(No assistant .*\)\. Run the command again\.\n$/,
    ],
    [
      "a new record, which another apply has made",
      async (api) => api.gql('mutation { createAssistant(input: { name: "B", key: "b" }) { id } }'),
      /^Somebody has changed the assistant b or what it names meanwhile \(Another assistant has the key "b"\.\)\. Run the command again\.\n$/,
    ],
  ];
  test.each(CHANGES)("%s", async (what, change, message) => {
    const { place, api } = await fresh();
    await place.run(["apply", "."]);
    if (what.startsWith("a new")) place.write("assistants/b.yaml", "key: b\nname: B\ndescription: Mine\n");
    else place.replace("assistants/front-desk.yaml", "temperature: 0.3", "temperature: 0.9");
    const { code, stderr } = await place.runBeside(() => change(api), ["apply", "."]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect((await place.run(["apply", "."])).code).toBe(0);
    expect(await place.run(["apply", "."])).toEqual(SAME);
  });
});

describe("apply leaves what somebody has changed after it was read, and asks to be run again:", () => {
  const idIn = async (
    api: Api,
    query: string,
    find: (found: Awaited<ReturnType<Api["gql"]>>) => { id: string },
  ): Promise<string> => find(await api.gql(query)).id;
  const withKey = <T extends { id: string; key: string }>(records: T[], key: string) =>
    records.find((one) => one.key === key)!;
  const ROWS: [
    what: string,
    edit: (place: Workplace) => void,
    change: (api: Api) => Promise<unknown>,
    kept: string,
  ][] = [
    [
      "the webhook destination crm",
      (place) => place.replace("webhooks/crm.yaml", "example.com/hook", "example.com/other"),
      async (api) =>
        api.gql(
          'mutation ($id: ID!) { updateWebhookDestination(id: $id, input: { name: "Theirs" }) { id } }',
          {
            id: await idIn(api, "{ webhookDestinations { id key } }", (found) =>
              withKey(found.webhookDestinations, "crm"),
            ),
          },
        ),
      "{ webhookDestinations { name url } }",
    ],
    [
      "the workflow intake",
      (place) => place.replace("workflows/intake.yaml", "rank: 2", "rank: 3"),
      async (api) =>
        api.gql('mutation ($id: ID!) { updateWorkflowNode(id: $id, input: { message: "Theirs" }) { id } }', {
          id: await idIn(api, "{ workflows { nodes { id name } } }", ({ workflows }) =>
            workflows[0].nodes.find(({ name }: { name: string }) => name === "End"),
          ),
        }),
      "{ workflows { nodes { message } edges { rank } } }",
    ],
    [
      "the deployment api-intake",
      (place) => place.replace("deployments/api-intake.yaml", "enabled: false", "enabled: true"),
      async (api) =>
        api.gql(
          "mutation ($id: ID!, $to: ID!) { updateDeployment(id: $id, input: { workflowId: null, assistantId: $to }) { id } }",
          {
            id: await idIn(api, "{ deployments { id key } }", ({ deployments }) =>
              withKey(deployments, "api-intake"),
            ),
            to: await idIn(api, "{ assistants { data { id } } }", ({ assistants }) => assistants.data[0]),
          },
        ),
      "{ deployments { key enabled assistant { id } } }",
    ],
    [
      "the assistant old",
      (place) => place.remove("assistants/old.yaml"),
      async (api) =>
        api.gql('mutation ($id: ID!) { updateAssistant(id: $id, input: { description: "Theirs" }) { id } }', {
          id: await idIn(api, "{ assistants { data { id key } } }", ({ assistants }) =>
            withKey(assistants.data, "old"),
          ),
        }),
      "{ assistants { data { key description } } }",
    ],
    [
      "the webhook destination old",
      (place) => place.remove("webhooks/old.yaml"),
      async (api) =>
        api.gql(
          'mutation ($id: ID!) { updateWebhookDestination(id: $id, input: { events: ["session-end"] }) { id } }',
          {
            id: await idIn(api, "{ webhookDestinations { id key } }", (found) =>
              withKey(found.webhookDestinations, "old"),
            ),
          },
        ),
      "{ webhookDestinations { key events } }",
    ],
  ];
  test.each(ROWS)("%s", async (what, edit, change, query) => {
    const { place, api } = await fresh();
    place.write("assistants/old.yaml", "key: old\nname: Old\n");
    place.write("webhooks/old.yaml", "key: old\nurl: https://example.com/old\nsecret: ${CRM_SECRET}\n");
    expect((await place.run(["apply", "."])).code).toBe(0);
    edit(place);
    let theirs: unknown;
    const changing = async () => {
      await change(api);
      theirs = await api.gql(query);
    };
    const { code, stderr } = await place.runBeside(changing, ["apply", ".", "--prune"]);
    expect([code, stderr]).toEqual([
      1,
      `Somebody has changed ${what} or what it names meanwhile. Run the command again.\n`,
    ]);
    expect(theirs).toBeDefined();
    expect(await api.gql(query)).toEqual(theirs);
    expect((await place.run(["apply", ".", "--prune"])).code).toBe(0);
    expect(await place.run(["apply", ".", "--prune"])).toEqual(SAME);
  });
});

describe("an assistant that changes while it is read", () => {
  const CHANGE = `mutation ($id: ID!) { updateAssistantDocument(assistantId: $id,
    input: { description: "Theirs", voice: { prompt: "Theirs." }, chat: { temperature: 1.1 } }) { id } }`;
  const beside = async (api: Api, place: Workplace, args: readonly string[]) => {
    const { id } = (await api.gql("{ assistants { data { id } } }")).assistants.data[0];
    const { url, stop, isTorn } = await tornReads(place.running.url, () => api.gql(CHANGE, { id }));
    const through = new Workplace(place.folder, { ...place.running, url }, place.environment);
    const result = await through.run(args);
    stop();
    expect(isTorn()).toBe(true);
    return result;
  };

  test("is pulled in one version", async () => {
    const { place, api } = await fresh();
    await place.run(["apply", "."]);
    expect(await beside(api, place, ["pull", "."])).toMatchObject({ code: 0 });
    expect(await place.run(["diff", "."])).toEqual(SAME);
    expect(place.read("assistants/front-desk.yaml")).toContain("temperature: 1.1");
  });

  test("is overwritten only by what the plan shows", async () => {
    const { place, api } = await fresh();
    await place.run(["apply", "."]);
    place.replace("assistants/front-desk.yaml", /description: .*/, "description: Mine");
    const { code, stdout } = await beside(api, place, ["apply", "."]);
    expect(stdout).toContain("    description: Theirs → Mine\n");
    expect(stdout).toContain("    chat.temperature: 1.1 → 0.3\n");
    expect(code).toBe(0);
    expect(await place.run(["apply", "."])).toEqual(SAME);
  });
});

test("apply reads each record alone before its change, and all records only twice", async () => {
  const { place } = await fresh();
  await place.run(["apply", "."]);
  const listsAt = async (description: string) => {
    for (const number of [1, 2, 3]) {
      place.write(`workflows/w${number}.yaml`, `key: w${number}\nname: W\ndescription: ${description}\n`);
      place.write(
        `webhooks/h${number}.yaml`,
        `key: h${number}\nurl: https://example.com/${description}\nsecret: \${CRM_SECRET}\n`,
      );
      place.write(
        `deployments/d${number}.yaml`,
        `key: d${number}\ntype: API\nworkflow: w${number}\nenabled: ${description === "changed"}\n`,
      );
    }
    const bodies: string[] = [];
    const { url, stop } = await beforeFirstMutation(
      place.running.url,
      () => Promise.resolve(),
      "mutation",
      (body) => bodies.push(body),
    );
    const way = new Workplace(place.folder, { ...place.running, url }, place.environment);
    expect(await way.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
    stop();
    return bodies.filter((body) => /workflowsConnection|webhookDestinations\(|\{ deployments/.test(body))
      .length;
  };
  await listsAt("new");
  expect(await listsAt("changed")).toBe(6);
});

test("apply leaves a project and missingVariables that somebody has set after they were read, and asks to be run again", async () => {
  const { place, api } = await fresh();
  await place.run(["apply", "."]);
  const { createProject: theirs } = await api.gql(
    'mutation { createProject(input: { name: "Theirs" }) { id } }',
  );
  await api.gql('mutation { createProject(input: { name: "Shop" }) { id } }');
  const query = "{ assistants { data { id missingVariables project { name } } } }";
  const [{ id }] = (await api.gql(query)).assistants.data;
  const change =
    "mutation ($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }";
  for (const [from, to, input, set] of [
    [
      "missingVariables: BLANK",
      "missingVariables: REFUSE",
      { missingVariables: "KEEP" },
      { missingVariables: "KEEP" },
    ],
    ["project: null", "project: Shop", { projectId: theirs.id }, { project: { name: "Theirs" } }],
  ] as const) {
    place.replace("assistants/front-desk.yaml", from, to);
    const { code, stderr } = await place.runBeside(() => api.gql(change, { id, input }), ["apply", "."]);
    expect([code, stderr]).toEqual([
      1,
      "Somebody has changed the assistant front-desk or what it names meanwhile. Run the command again.\n",
    ]);
    expect((await api.gql(query)).assistants.data).toMatchObject([set]);
    expect((await place.run(["apply", "."])).code).toBe(0);
    expect(await place.run(["apply", "."])).toEqual(SAME);
  }
});

test("an assistant that has changed since it was read keeps its project and missingVariables, too", async () => {
  const { place, api } = await fresh();
  await place.run(["apply", "."]);
  await api.gql('mutation { createProject(input: { name: "Shop" }) { id } }');
  const query =
    "{ assistants { data { id description missingVariables } } projects { name assistants { data { id } } } }";
  const before = await api.gql(query);
  const [{ id }] = before.assistants.data;
  place.replace("assistants/front-desk.yaml", "temperature: 0.3", "temperature: 0.9");
  place.replace("assistants/front-desk.yaml", "missingVariables: BLANK", "missingVariables: REFUSE");
  place.replace("assistants/front-desk.yaml", "project: null", "project: Shop");
  const change = 'mutation ($id: ID!) { updateAssistant(id: $id, input: { description: "Changed" }) { id } }';
  const { code, stderr } = await place.runBeside(() => api.gql(change, { id }), ["apply", "."]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("Run the command again.")]);
  before.assistants.data[0].description = "Changed";
  expect(await api.gql(query)).toEqual(before);
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect(await place.run(["apply", "."])).toEqual(SAME);
  expect(await api.gql(query)).toMatchObject({
    assistants: { data: [{ missingVariables: "REFUSE" }] },
    projects: [{ name: "Shop", assistants: { data: [{ id }] } }],
  });
});

test("diff shows what has changed in files beside the YAML file, and nothing that only stands elsewhere", async () => {
  const { place } = await fresh();
  place.write("assistants/front-desk/files/latin.txt", Buffer.from("caf\xe9", "latin1"));
  place.replace("assistants/front-desk.yaml", "files:\n", "files:\n  - front-desk/files/latin.txt\n");
  expect((await place.run(["apply", "."])).code).toBe(0);
  place.write("assistants/front-desk/files/hours.txt", "Opening hours: 9 to 6");
  place.write("assistants/front-desk/files/latin.txt", Buffer.from("cafs\xe9", "latin1"));
  place.write("assistants/front-desk/files/new.txt", "New");
  place.replace("assistants/front-desk.yaml", "files:\n", "files:\n  - front-desk/files/new.txt\n");
  place.replace("assistants/front-desk/chat-prompt.md", "\n\n- Be brief", " \n\n- Be brief");
  place.replace("workflows/intake/talk.md", "Then stop.", "Then go on.");
  place.replace(
    "workflows/intake.yaml",
    /    type: END\n    name: End\n    message: Bye\n/,
    "    message: Bye\n    name: End\n    type: END\n",
  );
  expect(place.read("workflows/intake.yaml")).toContain("    message: Bye\n    name: End\n    type: END\n");
  place.replace("workflows/intake.yaml", "    rank: 2", "    rank: 3");
  const { code, stdout } = await place.run(["diff", "."]);
  expect(code).toBe(2);
  const lines = stdout.split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      "    files.hours.txt: Opening hours: 9 to 5 → Opening hours: 9 to 6",
      "    files.latin.txt: 4 bytes → 5 bytes",
      "    files.new.txt: (none) → 3 bytes",
      "      -You are the receptionist of {company}.",
      "      +You are the receptionist of {company}.·",
      "    nodes.talk:",
      "      -  Then stop.",
      "      +  Then go on.",
    ]),
  );
  const changed = lines.slice(lines.indexOf("    edges:")).filter((line) => /^ {6}[+-]/.test(line));
  expect(changed).toEqual(["      -  rank: 2", "      +  rank: 3"]);
  expect(stdout).not.toContain("nodes.end");
  expect(lines.filter((line) => line.endsWith(" "))).toEqual([]); // also not for the empty line of the prompt
});

test("attached files follow the folder, and an upload is used again", async () => {
  const { place, api } = await fresh();
  await place.run(["apply", "."]);
  place.write("assistants/front-desk/files/hours.txt", "Now 10 to 6");
  place.write("assistants/front-desk/files/more.md", "More");
  place.replace(
    "assistants/front-desk.yaml",
    "  - front-desk/files/hours.txt\n",
    "  - front-desk/files/hours.txt\n  - { file: front-desk/files/more.md, name: extra.md }\n",
  );
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect(await place.run(["apply", "."])).toEqual(SAME);
  expect((await api.gql(COUNTS)).assistants.data[0].files).toEqual([
    { name: "hours.txt" },
    { name: "extra.md" },
  ]);
  place.write("assistants/front-desk/files/hours.txt", "Opening hours: 9 to 5");
  expect((await place.run(["apply", "."])).code).toBe(0);
  const { data } = (await api.gql("{ files { data { name } } }")).files;
  expect(data.map(({ name }: { name: string }) => name).sort()).toEqual([
    "extra.md",
    "hours.txt",
    "hours.txt",
  ]);
});

test("nodes and edges keep their ids unless they change", async () => {
  const { place, api } = await fresh();
  await place.run(["apply", "."]);
  const [before] = (await api.gql(NODES)).workflows;
  place.replace("workflows/intake.yaml", "name: End", "name: Goodbye");
  place.replace("workflows/intake.yaml", "    rank: 2", "    rank: 3");
  place.replace(
    "workflows/intake.yaml",
    "edges:\n",
    "  extra:\n    type: END\n    name: Extra\nedges:\n  - { from: talk, to: extra, kind: FUNCTION, functionName: find_order }\n",
  );
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect(await place.run(["apply", "."])).toEqual(SAME);
  const [after] = (await api.gql(NODES)).workflows;
  const ids = (list: { id: string }[]) => list.map(({ id }) => id);
  expect(ids(after.nodes).slice(0, 4)).toEqual(ids(before.nodes));
  expect(after.nodes.map(({ name }: { name: string }) => name)).toEqual([
    "Start",
    "Talk",
    "Talk",
    "Goodbye",
    "Extra",
  ]);
  expect(ids(after.edges)).toEqual(expect.arrayContaining(ids(before.edges)));
  place.replace("workflows/intake.yaml", /  extra:\n.*\n.*\n/, "");
  place.replace("workflows/intake.yaml", /  - { from: talk, to: extra.*\n/, "");
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect(ids((await api.gql(NODES)).workflows[0].nodes)).toEqual(ids(before.nodes));
});

test("--prune deletes records with a key and without a file, and no others", async () => {
  const { place, api } = await fresh();
  place.write("assistants/old.yaml", "key: old\nname: Old\n");
  place.write("deployments/old.yaml", "key: old\ntype: API\nassistant: old\n");
  await place.run(["apply", "."]);
  await api.gql('mutation { createAssistant(input: { name: "By hand" }) { id } }');
  place.write("assistants/old.yaml", "key: new\nname: New\n");
  place.write("deployments/old.yaml", "key: new\ntype: API\nassistant: new\n");
  const kept = await place.run(["apply", "."]);
  expect([kept.code, kept.stdout]).toEqual([
    0,
    expect.stringContaining("2 records with a key that no file has"),
  ]);
  expect(await place.run(["diff", "."])).toMatchObject({ code: 0 });
  expect((await place.run(["diff", ".", "--prune"])).code).toBe(2);
  const { code, stdout } = await place.run(["apply", ".", "--prune"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/- deployment old\n- assistant old\n/)]);
  const { assistants, deployments } = await api.gql(COUNTS);
  const keys = (list: { key: string | null }[]) => list.map(({ key }) => key).sort();
  expect(keys(assistants.data)).toEqual(["front-desk", "new", null]);
  expect(keys(deployments)).toEqual(["api-intake", "new", "text-bubble-front-desk"]);
});

test("an origin may have another form than the server stores, and keeps it", async () => {
  const { place, api } = await fresh();
  const path = "assistants/front-desk.yaml";
  place.replace(
    path,
    "- https://www.example.com",
    "- https://WWW.example.com/ # the shop\n  - HTTP://b.example:80",
  );
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  const { data } = (await api.gql("{ assistants { data { theme { allowedOrigins } } } }")).assistants;
  expect(data[0].theme.allowedOrigins).toEqual(["https://www.example.com", "http://b.example"]);
  expect(await place.run(["diff", "."])).toEqual(SAME);
  place.replace(path, "temperature: 0.3", "temperature: 0.4");
  const text = place.read(path);
  expect((await place.run(["pull", "."])).code).toBe(0);
  expect(place.read(path)).toBe(text.replace("temperature: 0.4", "temperature: 0.3"));
  place.replace(path, "- HTTP://b.example:80", "- https://www.example.com:443");
  const { code, stderr } = await place.run(["validate", "."]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/: allowedOrigins\.1 repeats allowedOrigins\.0\.\n$/),
  ]);
});

test("a value that the server has otherwise after an apply is reported with its place", async () => {
  const { place, api } = await fresh();
  place.write("assistants/z.yaml", "key: z\nname: The last one\n");
  const change = async () => {
    const { data } = (await api.gql("{ assistants { data { id } } }")).assistants;
    const query = "mutation ($id: ID!) { updateAllowedOrigins(assistantId: $id, origins: []) { id } }";
    await api.gql(query, { id: data[0].id });
  };
  const { url, stop } = await beforeFirstMutation(running.url, change, "The last one");
  const changed = new Workplace(place.folder, { ...place.running, url }, SECRETS);
  const { code, stderr } = await changed.run(["apply", "."]);
  stop();
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^The server has not kept everything:\n~ assistant front-desk\n {4}allowedOrigins:[^]*\nassistants\/front-desk\.yaml:\d+:3: The server has another value of allowedOrigins\. Write the value as the server has it, or run parley pull, unless/,
    ),
  ]);
});

test("an apply that is killed at any moment is completed by the next one", async () => {
  const { api: wholeApi, place: whole } = await fresh();
  await whole.run(["apply", "."]);
  for (const moment of ["to create", "Created assistant", "Created webhook", "Created workflow"]) {
    const { place, api } = await fresh();
    const killed = await place.run(["apply", "."], (text, pid) => {
      if (text.includes(moment)) process.kill(pid, "SIGKILL");
    });
    expect([moment, killed.code]).toEqual([moment, null]);
    expect((await place.run(["apply", "."])).code).toBe(0);
    expect(await place.run(["apply", "."])).toEqual(SAME);
    const shape = async (one: Api) =>
      JSON.parse(JSON.stringify(await one.gql(COUNTS)).replaceAll(/"id":"[^"]+"/g, '"id":""')) as unknown;
    expect(await shape(api)).toEqual(await shape(wholeApi));
  }
});

test("an apply that is killed while it prunes deletes the rest the next time, and nothing else", async () => {
  const old: Record<string, string> = {
    "assistants/old.yaml": "key: old\nname: Old\n",
    "assistants/older.yaml": "key: older\nname: Older\n",
    "webhooks/old.yaml": "key: old\nurl: https://example.com/old\nsecret: ${CRM_SECRET}\n",
    "workflows/old.yaml": "key: old\nname: Old\n",
    "deployments/old.yaml": "key: old\ntype: API\nassistant: old\n",
  };
  const KEYS =
    "{ assistants { data { key } } workflows { key } webhookDestinations { key } deployments { key } }";
  for (const moment of [
    "to delete",
    "deleteDeployment",
    "deleteWorkflow",
    "deleteWebhook",
    "deleteAssistant",
  ]) {
    const { place, api } = await fresh();
    await place.run(["apply", "."]);
    await api.gql('mutation { createAssistant(input: { name: "Without a key" }) { id } }');
    const kept = await api.gql(KEYS);
    for (const [path, content] of Object.entries(old)) place.write(path, content);
    expect((await place.run(["apply", "."])).code).toBe(0);
    for (const path of Object.keys(old)) place.remove(path);
    let pid: number | undefined;
    const kill = () => Promise.resolve(process.kill(pid!, "SIGKILL"));
    const { url, stop } = await beforeFirstMutation(place.running.url, kill, moment);
    const way = new Workplace(place.folder, { ...place.running, url }, place.environment);
    const killed = await way.run(["apply", ".", "--prune"], (text, of) => {
      pid = of;
      if (text.includes(moment)) process.kill(of, "SIGKILL");
    });
    stop();
    expect([moment, killed.code]).toEqual([moment, null]);
    expect((await place.run(["apply", ".", "--prune"])).code).toBe(0);
    expect(await place.run(["apply", ".", "--prune"])).toEqual(SAME);
    expect(await api.gql(KEYS)).toEqual(kept);
  }
});

test("an apply whose output nobody reads any more completes its work", async () => {
  const { place } = await fresh();
  const { stdout: before } = await place.run(["apply", "."]);
  expect(before).toContain("Created");
  const records = ["b", "c", "d"].map((key) => `assistants/${key}.yaml`);
  for (const path of records) place.write(path, `key: ${path[11]}\nname: New\n`);
  expect(await place.runUnread(["apply", "."])).toBe(0);
  expect((await place.run(["diff", "."])).stdout).toContain("The server has everything that the files say.");
  expect(await place.runUnread(["pull", "."])).toBe(0);
});

test("a pull leaves comments and the form of values, and changes what differs", async () => {
  const { place, api } = await fresh();
  const begin = "# The front desk\nkey: b # stable\nname: 'B'\n";
  const origins = "allowedOrigins:\n  - https://a.example\n  # Ask before you add one\n";
  const end =
    "chat:\n  # Warm, but not too warm\n  temperature: 0.50\n  prompt: |\n    Two\n    lines\n  # Nothing else\n";
  const text = begin + origins + end;
  place.write("assistants/any-name.yaml", text);
  await place.run(["apply", "."]);
  const { assistants } = await api.gql("{ assistants { data { id key } } }");
  const { id } = assistants.data.find(({ key }: { key: string }) => key === "b");
  await api.gql(
    `mutation ($id: ID!) {
      updateChatConfiguration(assistantId: $id, input: { maxTokensOutput: 7, prompt: "Two\\nother" }) { id }
      updateAllowedOrigins(assistantId: $id, origins: ["https://a.example", "https://b.example"]) { id } }`,
    { id },
  );
  expect((await place.run(["pull", "."])).code).toBe(0);
  const pulled = place.read("assistants/any-name.yaml");
  const changed = end.replace("|\n    Two\n    lines", "|-\n    Two\n    other");
  expect(pulled.startsWith(`${begin}${origins}  - https://b.example\n${changed}`)).toBe(true);
  expect(pulled).toContain("\n  maxTokensOutput: 7\n");
  expect((await place.run(["diff", "."])).code).toBe(0);
});

test("a pull replaces aliases whose values differ", async () => {
  const { place, api } = await fresh();
  const text =
    "key: b\nname: B\nchat:\n  functions:\n    - &f { name: f, serverUrl: https://example.com/f }\n    - *f\nsms:\n  functions:\n    - *f\n";
  place.write("assistants/b.yaml", text);
  expect((await place.run(["apply", "."])).code).toBe(0);
  const { assistants } = await api.gql("{ assistants { data { id key } } }");
  const { id } = assistants.data.find(({ key }: { key: string }) => key === "b");
  const functions = [{ name: "g", serverUrl: "https://example.com/g" }];
  await api.gql(
    "mutation ($id: ID!, $chat: UpdateChatConfigurationInput!) { updateChatConfiguration(assistantId: $id, input: $chat) { id } }",
    { id, chat: { functions } },
  );
  expect(await place.run(["pull", "."])).toMatchObject({ code: 0, stderr: "" });
  expect((await place.run(["diff", "."])).code).toBe(0);
  expect(place.read("assistants/b.yaml")).toContain("name: g");
});

test("a pull writes no file outside the folder", async () => {
  const { place, api } = await fresh();
  await place.run(["apply", "."]);
  await api.gql('mutation ($key: String) { createAssistant(input: { name: "X", key: $key }) { id } }', {
    key: "x",
  });
  place.write("assistants/x.yaml", "key: x\nname: X\nchat: { prompt: { file: ../../escaped.md } }\n");
  const { code, stderr } = await place.run(["pull", "."]);
  expect([code, stderr]).toEqual([1, "../escaped.md is outside the folder ..\n"]);
});

test("the schemas of files are served, and name the models of the server", async () => {
  for (const kind of ["assistant", "workflow", "webhook", "deployment"]) {
    const { status, body, headers } = await running.api.request("GET", `/schemas/${kind}.json`);
    expect([status, headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("application/schema+json"),
    ]);
    expect(body).toMatchObject({
      $id: `${running.url}/schemas/${kind}.json`,
      required: expect.arrayContaining(["key"]),
    });
  }
  expect((await running.api.request("GET", "/schemas/none.json")).status).toBe(404);
});

test.each<[fields: object, isValid: boolean]>([
  [{}, false],
  [{ assistant: null, workflow: null }, false],
  [{ assistant: "a", workflow: "w" }, false],
  [{ assistant: "a" }, true],
  [{ workflow: "w" }, true],
  [{ assistant: "a", workflow: null }, true],
  [{ assistant: null, workflow: "w" }, true],
])("the schema of a deployment says of the targets %j that they are valid: %j", async (fields, isValid) => {
  const { body } = await running.api.request("GET", "/schemas/deployment.json");
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(body as object);
  expect(validate({ key: "d", type: "API", ...fields })).toBe(isValid);
});

test("missingVariables is applied beside the versions, and pulled unless it is KEEP and no file has it", async () => {
  const { place, api } = await fresh();
  const path = "assistants/front-desk.yaml";
  await place.run(["apply", "."]);
  const read = async () =>
    (await api.gql("{ assistants { data { missingVariables version { number } } } }")).assistants.data[0];
  const { version } = await read();
  place.replace(path, "missingVariables: BLANK", "missingVariables: REFUSE");
  expect((await place.run(["diff", "."])).stdout).toContain("    missingVariables: BLANK → REFUSE\n");
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect(await read()).toEqual({ missingVariables: "REFUSE", version });
  expect(await place.run(["apply", "."])).toEqual(SAME);

  place.replace(path, "missingVariables: REFUSE", "missingVariables: KEEP");
  await place.run(["apply", "."]);
  expect((await place.run(["pull", "."])).code).toBe(0);
  expect(place.read(path)).toContain("missingVariables: KEEP");
  place.replace(path, "missingVariables: KEEP\n", "");
  expect(await place.run(["apply", "."])).toEqual(SAME);
  await place.run(["pull", "."]);
  expect(place.read(path)).not.toContain("missingVariables");
});
