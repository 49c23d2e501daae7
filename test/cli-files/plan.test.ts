import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { emptyFolder } from "../support/server";
import { Workplace } from "./folders";

const running = useApp();
const SAME = { code: 0, stdout: "The server has everything that the files say.\n", stderr: "" };

/** Files in a folder of their own, for an organization without records. */
async function folderWith(files: Readonly<Record<string, string | Buffer>>, environment = {}) {
  const { api, secretKey } = await running.otherOrganization();
  const place = new Workplace(emptyFolder(), { url: running.url, secretKey }, environment);
  for (const [path, content] of Object.entries(files)) place.write(path, content);
  const applied = await place.run(["apply", "."]);
  return { api, place, applied };
}

const KEYS =
  "{ assistants { data { key name } } workflows { key } webhookDestinations { key } deployments { key } }";
const desk = "key: desk\nname: Desk\n";
const intake =
  "key: intake\nname: Intake\nnodes:\n  start: { type: START, name: Start }\n  greet: { type: PROMPT, name: Greet, assistant: desk }\n  end: { type: END, name: End, message: Bye }\nedges:\n  - { from: start, to: greet }\n  - { from: greet, to: end }\n";

describe("--prune does not delete what another record uses:", () => {
  type Case = [what: string, files: Record<string, string>, gone: string[], problem: RegExp];
  const CASES: Case[] = [
    [
      "a node of a workflow",
      { "assistants/desk.yaml": desk, "workflows/intake.yaml": intake },
      ["assistants/desk.yaml"],
      /^workflows\/intake\.yaml:5:50: No file has assistant "desk", so --prune would delete it\.$/,
    ],
    [
      "a deployment of an assistant",
      { "assistants/desk.yaml": desk, "deployments/d.yaml": "key: d\ntype: API\nassistant: desk\n" },
      ["assistants/desk.yaml"],
      /^deployments\/d\.yaml:3:12: No file has assistant "desk", so --prune would delete it\.$/,
    ],
    [
      "a deployment of a workflow",
      {
        "assistants/desk.yaml": desk,
        "workflows/intake.yaml": intake,
        "deployments/d.yaml": "key: d\ntype: API\nworkflow: intake\n",
      },
      ["workflows/intake.yaml"],
      /^deployments\/d\.yaml:3:11: No file has workflow "intake", so --prune would delete it\.$/,
    ],
    [
      "a workflow whose file leaves out its nodes",
      { "assistants/desk.yaml": desk, "workflows/intake.yaml": intake },
      ["assistants/desk.yaml", "nodes"],
      /^workflows\/intake\.yaml:1:1: The nodes that the server has stay\. No file has assistant "desk", so --prune/,
    ],
    [
      "a record without a key",
      { "assistants/desk.yaml": desk, "assistants/other.yaml": "key: other\nname: Other\n" },
      ["assistants/desk.yaml", "by hand"],
      /^The deployment "API desk" of the server has no key, so it stays\. No file has assistant "desk", so --prune/,
    ],
  ];
  test.each(CASES)("%s", async (_, files, gone, problem) => {
    const { api, place, applied } = await folderWith({
      ...files,
      "assistants/spare.yaml": "key: spare\nname: A\n",
    });
    expect(applied.code).toBe(0);
    const [path, change] = gone;
    if (change === "nodes") place.write("workflows/intake.yaml", "key: intake\nname: Renamed\n");
    if (change === "by hand") {
      const { data } = (await api.gql("{ assistants { data { id key } } }")).assistants;
      const { id } = data.find(({ key }: { key: string }) => key === "desk");
      await api.gql(
        "mutation ($id: ID!) { createDeployment(input: { type: API, assistantId: $id }) { id } }",
        {
          id,
        },
      );
    }
    place.remove(path!);
    place.write("assistants/spare.yaml", "key: spare\nname: B\n");
    const before = await api.gql(KEYS);
    for (const args of [
      ["apply", ".", "--dry-run", "--prune"],
      ["apply", ".", "--prune"],
    ]) {
      const { code, stdout, stderr } = await place.run(args);
      expect([code, stdout, stderr.trim()]).toEqual([1, "", expect.stringMatching(problem)]);
    }
    expect(await api.gql(KEYS)).toEqual(before);
    expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  });
});

test("--prune deletes records that only deleted records use, after all other changes", async () => {
  const { api, place } = await folderWith(
    {
      "assistants/desk.yaml": desk,
      "workflows/intake.yaml": intake,
      "assistants/spare.yaml": "key: spare\nname: A\n",
    },
    { SECRET: "a-secret-word" },
  );
  place.remove("assistants/desk.yaml");
  place.remove("workflows/intake.yaml");
  place.write("webhooks/w.yaml", "key: w\nurl: https://user:word@example.com/\nsecret: ${SECRET}\n");
  expect((await place.run(["apply", ".", "--prune"])).code).toBe(1);
  expect((await api.gql(KEYS)).assistants.data).toHaveLength(2);
  place.remove("webhooks/w.yaml");
  expect((await place.run(["apply", ".", "--prune"])).code).toBe(0);
  expect(await api.gql(KEYS)).toMatchObject({ assistants: { data: [{ key: "spare" }] }, workflows: [] });
  expect(await place.run(["apply", ".", "--prune"])).toEqual(SAME);
});

test("a plan names the drafts of the assistants that it has, which apply leaves as they are", async () => {
  const other = "key: other\nname: Other\n";
  const { api, place } = await folderWith({ "assistants/desk.yaml": desk, "assistants/other.yaml": other });
  const { data } = (await api.gql("{ assistants { data { id } } }")).assistants;
  for (const { id } of data)
    await api.gql(
      'mutation ($id: ID!) { saveAssistantDraft(assistantId: $id, input: { name: "Drafted" }) { basedOn } }',
      { id },
    );
  const drafts = "{ assistants { data { key draft { basedOn document } } } }";
  const before = (await api.gql(drafts)).assistants;
  const said = (key: string, effect: string) =>
    `The assistant ${key} has a draft that is based on version 1: apply ${effect}.`;
  const unchanged = [said("desk", "leaves it as it is"), said("other", "leaves it as it is")];
  for (const command of ["diff", "apply"])
    expect(await place.run([command, "."])).toEqual({
      ...SAME,
      stdout: `${SAME.stdout}${unchanged.join("\n")}\n`,
    });
  place.replace("assistants/desk.yaml", "Desk", "Front desk");
  place.remove("assistants/other.yaml");
  const { code, stdout } = await place.run(["diff", "."]);
  expect([code, stdout.split("\n").filter((line) => line.includes("draft"))]).toEqual([2, [unchanged[0]]]);
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect((await api.gql(drafts)).assistants.data.map(({ draft }: { draft: object }) => draft)).toMatchObject(
    before.data.map(({ draft }: { draft: { basedOn: number } }) => ({ basedOn: draft.basedOn })),
  );
  const pruning = await place.run(["apply", ".", "--prune"]);
  expect([pruning.code, pruning.stdout]).toEqual([
    0,
    expect.stringContaining(said("other", "deletes it with the assistant")),
  ]);
});

test("no output has the values of variables", async () => {
  const secrets = {
    HOOK: "https://old.example/in?token=old-hook-token",
    FN: "old-fn-token",
    HOST: "fn.example",
  };
  const assistant = (more = "") =>
    `key: desk\nname: Desk\nchat:\n  functions:\n    - { name: f, serverUrl: "https://\${HOST}/f?k=\${FN}"${more} }\n    - { name: plain, serverUrl: https://old.example/plain }\n    - { name: gone, serverUrl: "https://\${HOST}/gone?k=\${FN}" }\n`;
  const { place } = await folderWith(
    {
      "assistants/desk.yaml": assistant(),
      "webhooks/crm.yaml": "key: crm\nurl: ${HOOK}\nsecret: ${SECRET}\n",
    },
    { ...secrets, SECRET: "a-hook-secret" },
  );
  const changed = new Workplace(place.folder, place.running, {
    HOOK: "https://new.example/in?token=new-hook-token",
    FN: "new-fn-token",
    HOST: "fn.example",
  });
  place.write(
    "assistants/desk.yaml",
    assistant(", description: 5")
      .replace(/.*name: gone.*\n/, "")
      .replace("old.example/plain", "new.example/plain"),
  );
  const dry = await changed.run(["diff", "."]);
  const applied = await changed.run(["apply", "."]);
  expect([dry.code, applied.code]).toEqual([2, 0]);
  for (const { stdout, stderr } of [dry, applied]) {
    expect(stdout + stderr).not.toMatch(/old-hook|new-hook|old-fn|new-fn|fn\.example/);
    const lines = stdout.split("\n").map((line) => line.trim());
    expect(lines).toEqual(
      expect.arrayContaining([
        "url: (another value) → ${HOOK}",
        "-serverUrl: (another address)",
        "+serverUrl: https://${HOST}/f?k=${FN}",
        "chat.functions.plain:",
        "-serverUrl: https://old.example/plain",
        "+serverUrl: https://new.example/plain",
      ]),
    );
  }
  expect(await changed.run(["diff", "."])).toEqual(SAME);
  const broken = new Workplace(place.folder, place.running, {
    ...changed.environment,
    HOOK: "https://user:pass-word@x",
  });
  const refused = await broken.run(["apply", "."]);
  expect(refused.stdout + refused.stderr).not.toContain("pass-word");
});

test("a version that an assistant does not have is refused before anything is changed", async () => {
  const { api, place } = await folderWith({ "assistants/desk.yaml": desk });
  place.write("assistants/desk.yaml", "key: desk\nname: Changed\n");
  place.write("deployments/d.yaml", "key: d\ntype: API\nassistant: desk\nassistantVersion: 99\n");
  expect(await place.run(["apply", "."])).toEqual({
    code: 1,
    stdout: "",
    stderr: "deployments/d.yaml:4:19: The assistant desk has no version 99.\n",
  });
  expect((await api.gql(KEYS)).assistants.data).toEqual([{ key: "desk", name: "Desk" }]);
  place.write("deployments/d.yaml", "key: d\ntype: API\nassistant: desk\nassistantVersion: 2\n");
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(await place.run(["apply", "."])).toEqual(SAME);
});

test("a deployment that gets another assistant keeps the version that its file pins", async () => {
  const { api, place } = await folderWith({
    "assistants/desk.yaml": desk,
    "assistants/bar.yaml": "key: bar\nname: Bar\n",
    "deployments/d.yaml": "key: d\ntype: API\nassistant: desk\nassistantVersion: 1\n",
  });
  place.replace("deployments/d.yaml", "assistant: desk", "assistant: bar");
  expect(await place.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  expect((await api.gql("{ deployments { assistantVersion assistant { key } } }")).deployments).toEqual([
    { assistantVersion: 1, assistant: { key: "bar" } },
  ]);
});

test("a plan that pins a version says what the number is on this server", async () => {
  const { api, place } = await folderWith({ "assistants/desk.yaml": desk });
  const pin = (number: number) =>
    place.write("deployments/d.yaml", `key: d\ntype: API\nassistant: desk\nassistantVersion: ${number}\n`);
  const warning = (number: number, origin: string) =>
    `deployments/d.yaml:4:19: Warning: This pins version ${number} of the assistant desk, which ${origin}. Other servers have another version with this number.\n`;
  const { assistants } = await api.gql("{ assistants { data { versions { nodes { number createdAt } } } } }");
  const since = `this server has had since ${assistants.data[0].versions.nodes[0].createdAt}`;
  pin(1);
  for (const [command, code] of [
    ["diff", 2],
    ["apply", 0],
  ] as const) {
    const { stdout, ...rest } = await place.run([command, "."]);
    expect([rest, stdout]).toEqual([{ code, stderr: "" }, expect.stringContaining(warning(1, since))]);
  }
  expect(await place.run(["diff", "."])).toEqual(SAME);
  place.write("assistants/desk.yaml", "key: desk\nname: Changed\n");
  expect((await place.run(["diff", "."])).stdout).not.toContain("Warning");
  pin(2);
  expect((await place.run(["apply", "."])).stdout).toContain(warning(2, "apply makes"));
  place.replace("deployments/d.yaml", "type: API", "type: API\nenabled: false");
  expect((await place.run(["apply", "."])).stdout).not.toContain("Warning");
});

test("an upload is removed again if the server refuses the assistant", async () => {
  const { api, place } = await folderWith({ "assistants/desk.yaml": desk });
  place.write("assistants/desk.yaml", `${desk}files: [hours.txt]\n`);
  place.write("assistants/hours.txt", "We open at nine.");
  const { data } = (await api.gql("{ assistants { data { id } } }")).assistants;
  const change = 'mutation ($id: ID!) { updateAssistant(id: $id, input: { description: "New" }) { id } }';
  const { code, stderr } = await place.runBeside(() => api.gql(change, data[0]), ["apply", "."]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("Somebody has changed the assistant desk")]);
  expect((await api.gql("{ files { data { id } } }")).files.data).toEqual([]);
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect((await api.gql("{ files { data { name } } }")).files.data).toEqual([{ name: "hours.txt" }]);
});

const FUNCTIONS = (first: string, second: string) =>
  `key: desk\nname: Desk\nvariables: { a: 1, b: 2 }\nchat:\n  functions:\n${first}${second}`;
const find =
  "    - name: find\n      description: Finds\n      parameters:\n        type: object\n        properties: { number: { type: string }, name: { type: string } }\n      serverUrl: https://fn.example/find\n      secretKey: ${SECRET}\n";
const book =
  "    - { type: function, function: { name: book, description: Books }, server: { url: https://fn.example/book, secret: '${SECRET}' } }\n";

test("the order of fields counts in functions, and nowhere else", async () => {
  const { api, place } = await folderWith(
    { "assistants/desk.yaml": FUNCTIONS(find, book) },
    { SECRET: "a-secret" },
  );
  expect(await place.run(["apply", "."])).toEqual(SAME);
  const turned = find
    .replace(
      "{ number: { type: string }, name: { type: string } }",
      "{ name: { type: string }, number: { type: string } }",
    )
    .replace(/(    - )(name: find\n)( *)(description: Finds\n)/, "$1$4$3$2");
  place.write("assistants/desk.yaml", FUNCTIONS(turned, book).replace("{ a: 1, b: 2 }", "{ b: 2, a: 1 }"));
  const applied = await place.run(["apply", "."]);
  expect(applied.code).toBe(0);
  expect(applied.stdout).toMatch(
    /^~ assistant desk\n {4}chat\.functions\.find:\n {6}-name: find\n {7}description: Finds\n {6}\+name: find\n/,
  );
  expect(applied.stdout).not.toMatch(/variables|book/);
  expect(await place.run(["apply", "."])).toEqual(SAME);
  const { data } = (await api.gql("{ assistants { data { version { number } chat { functions } } } }"))
    .assistants;
  expect(data[0].version.number).toBe(2);
  expect(Object.keys(data[0].chat.functions[0] as object).slice(0, 2)).toEqual(["description", "name"]);
  expect(Object.keys(data[0].chat.functions[0].parameters.properties as object)).toEqual(["name", "number"]);

  place.write("assistants/desk.yaml", FUNCTIONS(book, find).replace("{ a: 1, b: 2 }", "{ b: 2, a: 1 }"));
  expect((await place.run(["diff", "."])).stdout).toContain(
    "    chat.functions.(order): find, book → book, find\n",
  );
  expect((await place.run(["pull", "."])).code).toBe(0);
  expect(place.read("assistants/desk.yaml")).toContain("{ b: 2, a: 1 }");
  expect(place.read("assistants/desk.yaml")).toMatch(/- description: Finds\n +name: find\n/);
  expect(await place.run(["apply", "."])).toEqual(SAME);
});

test("a plan names the function that changes", async () => {
  const { place } = await folderWith(
    { "assistants/desk.yaml": FUNCTIONS(find, book) },
    { SECRET: "a-secret" },
  );
  place.replace("assistants/desk.yaml", "description: Books", "description: Books a table");
  place.replace("assistants/desk.yaml", "type: object", "type: object\n        required: [number]");
  const { stdout } = await place.run(["diff", "."]);
  const lines = stdout.split("\n");
  expect(lines.filter((line) => line.startsWith("    chat"))).toEqual([
    "    chat.functions.find:",
    "    chat.functions.book:",
  ]);
  expect(lines.filter((line) => /^ {6}[+-]/.test(line)).map((line) => line.trim())).toEqual([
    "+  required:",
    "+    - number",
    "-  description: Books",
    "+  description: Books a table",
  ]);
});

test("the order of fields does not count in a field or a node of a workflow that has the name functions", async () => {
  const node = "{ type: START, name: S, metadata: { functions: { b: 1, a: 2 } } }";
  const nodes = `  functions: ${node}\n  t: { type: END, name: T, metadata: { b: 1, a: 2 } }\n`;
  const workflow = `key: w\nname: W\nnodes:\n${nodes}edges:\n  - { from: functions, to: t }\n`;
  const { place } = await folderWith({ "workflows/w.yaml": workflow });
  expect((await place.run(["apply", "."])).code).toBe(0);
  expect((await place.run(["pull", "."])).code).toBe(0);
  const pulled = place.read("workflows/w.yaml");
  expect(pulled).toContain("metadata: { functions: { b: 1, a: 2 } }");
  expect(await place.run(["diff", "."])).toEqual(SAME);
});
