import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { upload } from "../support/files";
import { snippetsOf } from "../support/snippets";
import { emptyFolder } from "../support/server";
import { Workplace } from "./folders";

const running = useApp();
const LONG = (name: string) => `You are ${name}.\nBe brief.`;
const DONE = { code: 0, stderr: "" };

/** An organization with the records of these files, which stay in the folder. */
async function organization(files: Readonly<Record<string, string>>, environment = {}) {
  const { api, secretKey } = await running.otherOrganization();
  const place = new Workplace(emptyFolder(), { url: running.url, secretKey }, environment);
  for (const [path, content] of Object.entries(files)) place.write(path, content);
  if (Object.keys(files).length > 0) expect(await place.run(["apply", "."])).toMatchObject(DONE);
  const within = (other: object) => new Workplace(place.folder, place.running, { ...environment, ...other });
  return { api, place, within };
}

const idOf = async (api: Api, key: string): Promise<string> => {
  const { assistants } = await api.gql("{ assistants { data { id key } } }");
  return assistants.data.find((one: { key: string }) => one.key === key).id as string;
};

const channel = async (api: Api, key: string, name: "Chat" | "Sms" | "Voice", input: object) =>
  api.gql(
    `mutation ($id: ID!, $input: Update${name}ConfigurationInput!) { update${name}Configuration(assistantId: $id, input: $input) { id } }`,
    { id: await idOf(api, key), input },
  );

const create = (api: Api, input: object) =>
  api.gql("mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id } }", { input });

describe("a pull leaves the files of other records:", () => {
  test("YAML files and texts that a new record would be written to, in any case of letters", async () => {
    const { api, place } = await organization({});
    await create(api, { name: "A", key: "a" });
    await create(api, { name: "B", key: "b" });
    await channel(api, "a", "Chat", { prompt: LONG("A") });
    const mine = {
      "assistants/A.yaml": "key: mine\nname: Mine\nchat: { prompt: { file: a/Chat-prompt.md } }\n",
      "assistants/b.yml": "key: other\nname: Other\n",
      "assistants/b.yaml": "key: third\nname: Third\n",
      "assistants/a/Chat-prompt.md": "Mine\n",
    };
    for (const [path, content] of Object.entries(mine)) place.write(path, content);
    const pulled = await place.run(["pull", "."]);
    expect(pulled).toMatchObject(DONE);
    expect(place.files()).toMatchObject(mine);
    expect(place.read("assistants/a-2.yaml")).toContain("file: a/chat-prompt-2.md\n");
    expect(place.read("assistants/a/chat-prompt-2.md")).toBe(`${LONG("A")}\n`);
    expect(place.read("assistants/b-2.yaml")).toContain("key: b\n");
    const before = place.files();
    expect((await place.run(["pull", "."])).stdout).toContain("No file has changed.");
    expect(place.files()).toEqual(before);
    const { stdout } = await place.run(["diff", ".", "--prune"]);
    expect(stdout).toContain("3 to create, 0 to change, 0 to delete.");
  });

  test("attached files, and local work that no record names yet", async () => {
    const { api, place, within } = await organization({
      "assistants/a.yaml": "key: a\nname: A\nfiles: [b/files/hours.txt]\n",
      "assistants/c.yaml": "key: c\nname: C\nfiles: [b/files/hours.txt]\n",
      "assistants/b/files/hours.txt": "Nine",
    });
    const elsewhere = new Workplace(emptyFolder(), place.running);
    elsewhere.write("assistants/x.yaml", "key: b\nname: B\nfiles: [hours.txt]\n");
    elsewhere.write("assistants/hours.txt", "Ten");
    elsewhere.write("assistants/y.yaml", "key: c\nname: C\nfiles: [more/hours.txt]\n");
    elsewhere.write("assistants/more/hours.txt", "Eleven");
    expect(await elsewhere.run(["apply", "."])).toMatchObject(DONE);
    await channel(api, "b", "Chat", { prompt: LONG("B") });
    place.write("assistants/b/chat-prompt.md", "A draft");
    expect(await within({}).run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("assistants/b/files/hours.txt")).toBe("Nine");
    expect(place.read("assistants/b/chat-prompt.md")).toBe("A draft");
    expect(place.read("assistants/b/chat-prompt-2.md")).toBe(`${LONG("B")}\n`);
    expect(place.read("assistants/b/files/hours-2.txt")).toBe("Ten");
    expect(place.read("assistants/c/files/hours.txt")).toBe("Eleven");
    expect(await place.run(["diff", "."])).toMatchObject(DONE);
  });
});

test("names of devices of Windows get another name for their files", async () => {
  const { api, place } = await organization({});
  for (const key of ["con", "com1.eu", "lpt", "a."]) {
    await create(api, { name: key, key });
    await channel(api, key, "Chat", { prompt: LONG(key) });
  }
  expect(await place.run(["pull", "."])).toMatchObject(DONE);
  expect(
    Object.keys(place.files())
      .filter((path) => path.startsWith("assistants/"))
      .toSorted(),
  ).toEqual(
    [
      "a..yaml",
      "a-/chat-prompt.md",
      "com1-.eu.yaml",
      "com1-.eu/chat-prompt.md",
      "con-.yaml",
      "con-/chat-prompt.md",
    ]
      .concat(["lpt.yaml", "lpt/chat-prompt.md"])
      .map((name) => `assistants/${name}`)
      .toSorted(),
  );
  expect(await place.run(["diff", "."])).toMatchObject(DONE);
});

describe("fields that name the same file", () => {
  const SHARED = {
    "assistants/a.yaml":
      "key: a\nname: A\nvoice: { prompt: { file: s/prompt.md } }\nsms: { prompt: { file: s/prompt.md } }\nchat: { prompt: { file: s/prompt.md } }\n",
    "assistants/b.yaml": "key: b\nname: B\nchat: { prompt: { file: s/prompt.md } }\n",
    "assistants/s/prompt.md": `${LONG("one")}\n`,
  };

  test("change together, and the one that differs gets a file of its own", async () => {
    const { api, place } = await organization(SHARED);
    await channel(api, "a", "Voice", { prompt: LONG("two") });
    await channel(api, "b", "Chat", { prompt: "Short" });
    const { stdout, ...rest } = await place.run(["pull", "."]);
    expect(rest).toEqual(DONE);
    expect(stdout).toContain(
      "assistants/a.yaml names a/voice-prompt.md instead of s/prompt.md: the content differs from that of other records that name this file.\n",
    );
    expect(place.read("assistants/a/voice-prompt.md")).toBe(`${LONG("two")}\n`);
    expect(place.read("assistants/b/chat-prompt.md")).toBe("Short\n");
    expect(place.read("assistants/s/prompt.md")).toBe(SHARED["assistants/s/prompt.md"]);
    expect(place.read("assistants/a.yaml").match(/file: s\/prompt\.md/g)).toHaveLength(2);
    expect(await place.run(["diff", "."])).toMatchObject(DONE);

    for (const name of ["Sms", "Chat"] as const) await channel(api, "a", name, { prompt: LONG("three") });
    expect((await place.run(["pull", "."])).stdout).not.toContain("instead of");
    expect(place.read("assistants/s/prompt.md")).toBe(`${LONG("three")}\n`);
    expect(await place.run(["diff", "."])).toMatchObject(DONE);
  });

  test("with a record that only the folder has leave its text", async () => {
    const { api, place } = await organization(SHARED);
    place.write("assistants/mine.yaml", "key: mine\nname: Mine\nchat: { prompt: { file: s/prompt.md } }\n");
    for (const name of ["Voice", "Sms", "Chat"] as const)
      await channel(api, "a", name, { prompt: LONG("two") });
    await channel(api, "b", "Chat", { prompt: LONG("two") });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("assistants/s/prompt.md")).toBe(SHARED["assistants/s/prompt.md"]);
    for (const name of ["a/voice", "a/sms", "a/chat", "b/chat"])
      expect(place.read(`assistants/${name}-prompt.md`)).toBe(`${LONG("two")}\n`);
  });

  test("by an alias stay as they are, until they differ", async () => {
    const { api, place } = await organization({
      "assistants/a.yaml":
        "key: a\nname: A\nchat: &c\n  prompt: &p { file: p.md }\nvoice:\n  prompt: *p\nsms: *c\n",
      "assistants/p.md": "One\ntwo\n",
    });
    await channel(api, "a", "Chat", { temperature: 0.4 });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("assistants/a.yaml")).toContain("  prompt: *p\n");
    expect(await place.run(["diff", "."])).toMatchObject(DONE);
    await channel(api, "a", "Voice", { prompt: "Other\ntext" });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("assistants/a/voice-prompt.md")).toBe("Other\ntext\n");
    expect(await place.run(["diff", "."])).toMatchObject(DONE);
  });
});

describe("a text with variables", () => {
  const FUNCTION = (name: string, url: string) =>
    `    - name: ${name}\n      description: Finds\n      serverUrl: ${url}\n`;
  const files = {
    "assistants/a.yaml": `key: a\nname: A\nchat:\n  functions:\n${FUNCTION("f", "https://example.com/f?token=${TOKEN}")}${FUNCTION("g", "${BASE}/g")}`,
    "webhooks/w.yaml": "key: w\nname: W\nurl: ${BASE}/events\nsecret: ${SECRET}\n",
  };
  const ENVIRONMENT = { TOKEN: "sup3rsecret", BASE: "https://b.example", SECRET: "a-secret" };
  const change = (api: Api, functions: object[]) => channel(api, "a", "Chat", { functions });
  const f = { name: "f", description: "Finds", serverUrl: "https://example.com/f?token=sup3rsecret" };
  const g = { name: "g", description: "Finds", serverUrl: "https://b.example/g" };
  const lines = (text: string) => text.split("\n").filter((line) => /[uU]rl:/.test(line));
  const bytes = [
    "      serverUrl: https://example.com/f?token=${TOKEN}",
    "      serverUrl: ${BASE}/g",
    "url: ${BASE}/events",
  ];

  test("stays if the value of the server can come from it, whether the variables are set or not", async () => {
    const { api, place, within } = await organization(files, ENVIRONMENT);
    await change(api, [
      { ...f, name: "renamed" },
      { ...g, description: "Gets" },
    ]);
    const environments: Readonly<Record<string, string>>[] = [{}, ENVIRONMENT, { BASE: ENVIRONMENT.BASE }];
    for (const environment of environments) {
      const { stdout, ...rest } = await new Workplace(place.folder, place.running, environment).run([
        "pull",
        ".",
      ]);
      expect(rest).toEqual(DONE);
      expect(stdout).not.toContain("Warning");
      const text = place.read("assistants/a.yaml");
      expect(text).toContain("name: renamed");
      expect(lines(text + place.read("webhooks/w.yaml"))).toEqual(bytes);
      expect(JSON.stringify(place.files())).not.toContain("sup3rsecret");
    }
    expect(await within({}).run(["diff", "."])).toMatchObject(DONE);
  });

  test("stays with a warning if the server has another value, which is not printed", async () => {
    const { api, place, within } = await organization(files, ENVIRONMENT);
    await change(api, [{ ...f, serverUrl: "https://moved.example/f?token=sup3rsecret" }, g]);
    for (const [environment, places] of [
      [{ TOKEN: "", BASE: "", SECRET: "" }, ["assistants/a.yaml:7:18"]],
      [
        { TOKEN: "", BASE: "https://c.example" },
        ["assistants/a.yaml:7:18", "assistants/a.yaml:10:18", "webhooks/w.yaml:3:6"],
      ],
    ] as const) {
      const { stdout, ...rest } = await within(environment).run(["pull", "."]);
      expect(rest).toEqual(DONE);
      const warnings = stdout.split("\n").filter((line) => line.includes(": Warning: "));
      expect(warnings.map((line) => line.split(": Warning: ")[0])).toEqual(places);
      expect(warnings[0]).toMatch(/The serverUrl on the server differs from the result of this text\./);
      expect(stdout).not.toMatch(/sup3rsecret|moved\.example|b\.example/);
      expect(lines(place.read("assistants/a.yaml") + place.read("webhooks/w.yaml"))).toEqual(bytes);
    }
  });

  test("is written for the same value elsewhere, and in place of an alias that differs", async () => {
    const { api, place, within } = await organization(
      {
        "assistants/a.yaml":
          "key: a\nname: A\nchat:\n  functions:\n    - &f { name: f, description: Finds, serverUrl: 'https://example.com/f?token=${TOKEN}' }\nsms:\n  functions:\n    - *f\n",
      },
      ENVIRONMENT,
    );
    await channel(api, "a", "Sms", { functions: [{ ...f, description: "Gets" }] });
    expect(await within({ TOKEN: "" }).run(["pull", "."])).toMatchObject(DONE);
    expect(lines(place.read("assistants/a.yaml"))).toHaveLength(2);
    await channel(api, "a", "Voice", { functions: [f] });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(lines(place.read("assistants/a.yaml"))).toHaveLength(3);
    expect(place.read("assistants/a.yaml")).not.toContain("sup3rsecret");
    expect(await place.run(["diff", "."])).toMatchObject(DONE);
  });

  test("stays if aliases of the file stand for values that are gone", async () => {
    const { api, place } = await organization(
      {
        "assistants/a.yaml":
          "key: a\nname: A\nchat:\n  functions:\n    - &f { name: f, serverUrl: 'https://example.com/f?token=${TOKEN}' }\nsms:\n  functions:\n    - *f\n",
      },
      ENVIRONMENT,
    );
    await change(api, []);
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("assistants/a.yaml")).toContain("https://example.com/f?token=${TOKEN}");
    expect(place.read("assistants/a.yaml")).not.toContain("sup3rsecret");
    expect(await place.run(["diff", "."])).toMatchObject(DONE);
  });
});

describe("the form of a file", () => {
  test("is block style for what a pull puts into empty brackets", async () => {
    const { api, place } = await organization({
      "assistants/a.yaml": "key: a\nname: A\nvoice: {}\nchat: { functions: [], temperature: 0.5 }\n",
    });
    await channel(api, "a", "Chat", {
      functions: [{ name: "f", description: "F", parameters: { type: "object" } }],
    });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    const text = place.read("assistants/a.yaml");
    expect(text).toContain("\nvoice:\n  prompt: ");
    expect(text).toContain(
      "\n  functions:\n    - name: f\n      description: F\n      parameters:\n        type: object\n",
    );
    expect(await place.run(["diff", "."])).toMatchObject(DONE);
  });

  test.each(["\n", "\r\n"])(
    "stays for unchanged lists and fields in brackets, with line ends %j",
    async (end) => {
      const example = snippetsOf("docs/files-in-git.md").find(({ code }) =>
        code.startsWith("# parley/workflows/"),
      )!;
      const workflow = example.code
        .replace("nodes:\n", "description: null\nproject: null\nnodes:\n")
        .replace("- { from: find, to: end }", "- {from: find,  to: end} # last\n  # The end");
      const { api, place } = await organization({
        "assistants/a.yaml":
          "key: front-desk\nname: A\nchat:\n  functions: [{ name: find_order, serverUrl: https://example.com/f }]\n",
        "workflows/intake.yaml": workflow.replaceAll("\n", end),
      });
      const { workflows } = await api.gql("{ workflows { nodes { id name } } }");
      const { id } = workflows[0].nodes.find(({ name }: { name: string }) => name === "Greet");
      await api.gql(
        'mutation ($id: ID!) { updateWorkflowNode(id: $id, input: { instructions: "Ask." }) { id } }',
        {
          id,
        },
      );
      expect(await place.run(["pull", "."])).toMatchObject(DONE);
      expect(place.read("workflows/intake.yaml")).toBe(
        workflow.replace("Ask for the name and the order number.", "Ask.").replaceAll("\n", end),
      );
      expect(await place.run(["diff", "."])).toMatchObject(DONE);
    },
  );

  const FOLDED = `prompt: >- # in short
    You are the receptionist,
    and you are brief.

    Never give advice.
  resources: 'We open
    at nine.'
  initialMessage: "Good \\u2014 \\
    day"
`;
  test.each([
    ["\n", "  "],
    ["\r\n", "  "],
    ["\n", "        "],
  ])(
    "stays for unchanged texts over several lines, with line ends %j and the indentation %j",
    async (end, indent) => {
      const folded = FOLDED.replaceAll("    ", `${indent}  `).replaceAll("\n", end);
      const text = `key: a${end}name: A${end}description: Answers${end}  calls # and more${end}`;
      const { api, place } = await organization({
        "assistants/a.yaml": `${text}chat:${end}  temperature: 0.5${end}  ${folded}`,
      });
      await channel(api, "a", "Chat", { temperature: 0.6 });
      expect(await place.run(["pull", "."])).toMatchObject(DONE);
      expect(place.read("assistants/a.yaml")).toContain(
        `${text}chat:${end}  temperature: 0.6${end}  ${folded}`,
      );
      expect(await place.run(["diff", "."])).toMatchObject(DONE);
      expect((await place.run(["pull", "."])).stdout).toBe("No file has changed.\n");
    },
  );
});

describe("a comment in a pull", () => {
  const TEXT = `key: a
name: A

# Where it may be shown
allowedOrigins:
  # All shops:

  # the first shop
  - https://a.example # a
  # the second shop
  - https://b.example # b
  # no others

# How it answers
chat:
  temperature: 0.5
  # not warmer
# What it knows
variables:
  city: Bern
`;

  test("stays above the entry or the field that it was above", async () => {
    const { api, place } = await organization({ "assistants/a.yaml": TEXT });
    const origins = ["https://c.example", "https://a.example", "https://b.example"];
    await api.gql(
      "mutation ($id: ID!, $origins: [String!]!) { updateAllowedOrigins(assistantId: $id, origins: $origins) { id } }",
      { id: await idOf(api, "a"), origins },
    );
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    const pulled = place.read("assistants/a.yaml");
    const [origin, entry] = ["  - https://c.example\n", "  # the first shop\n"];
    const begin = TEXT.slice(0, TEXT.indexOf("# What it knows")).replace(entry, origin + entry);
    expect(pulled.slice(0, begin.length)).toBe(begin);
    expect(pulled).toMatch(/\n {2}chatMode: [^]*\n# What it knows\nvariables:\n {2}city: Bern\n/);
  });

  test("stays if its entry, the first one, is gone", async () => {
    const { api, place } = await organization({ "assistants/a.yaml": TEXT });
    await api.gql(
      'mutation ($id: ID!) { updateAllowedOrigins(assistantId: $id, origins: ["https://b.example"]) { id } }',
      { id: await idOf(api, "a") },
    );
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("assistants/a.yaml")).toContain(
      "  # the first shop\n  # the second shop\n  - https://b.example",
    );
  });
});

test("a byte order mark of a YAML file stays, and a problem has the same place as without it", async () => {
  const { api, place } = await organization({ "assistants/a.yaml": "\uFEFFkey: a\nname: A\n" });
  await channel(api, "a", "Chat", { temperature: 0.6 });
  expect(await place.run(["pull", "."])).toMatchObject(DONE);
  expect(place.read("assistants/a.yaml")).toMatch(/^\uFEFFkey: a\nname: A\n[^]*temperature: 0\.6\n/);
  expect((await place.run(["pull", "."])).stdout).toBe("No file has changed.\n");
  place.write("assistants/a.yaml", "\uFEFFkeys: a\nname: A\n");
  expect((await place.run(["validate", "."])).stderr).toContain("assistants/a.yaml:1:1: Unknown field");
});

test("a pull writes texts that YAML 1.1 reads as something else in quotes, and leaves those of a file as they are", async () => {
  const variables = { open: "yes", since: "2026-01-02", at: "12:30:00" };
  const { api, place } = await organization({});
  await create(api, { name: "no", key: "a", variables });
  expect(await place.run(["pull", "."])).toMatchObject(DONE);
  const written = place.read("assistants/a.yaml");
  expect(written).toContain('name: "no"\n');
  for (const [name, value] of Object.entries(variables)) expect(written).toContain(`${name}: "${value}"\n`);
  place.write("assistants/a.yaml", written.replace('"yes"', "yes"));
  await create(api, { name: "B", key: "b" });
  expect(await place.run(["pull", "."])).toMatchObject(DONE);
  expect(place.read("assistants/a.yaml")).toContain("open: yes\n");
});

describe("the variables of secrets", () => {
  const FUNCTION = { name: "f", serverUrl: "https://example.com/f", secretKey: "secret of a.b" };
  const variablesIn = (place: Workplace) =>
    Object.fromEntries(
      Object.entries(place.files()).map(([path, text]) => [path, text.match(/(?<=\$\{)\w+(?=\})/g)]),
    );

  /** Records whose secrets get the same name, the last by its key first. */
  async function makeAlike(api: Api) {
    for (const key of ["a.b", "a-b"]) {
      await create(api, { name: key, key });
      await channel(api, key, "Chat", { functions: [{ ...FUNCTION, secretKey: `secret of ${key}` }] });
    }
    const input = { key: "a-b-chat-f", url: "https://example.com/hook", secret: "secret of the webhook" };
    const hook =
      "mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }";
    await api.gql(hook, { input });
  }

  test("differ in the whole folder, and are the same on another server", async () => {
    const { api, place } = await organization({});
    await makeAlike(api);
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(variablesIn(place)).toEqual({
      "assistants/a-b.yaml": ["A_B_CHAT_F_SECRET"],
      "assistants/a.b.yaml": ["A_B_CHAT_F_SECRET_2"],
      "webhooks/a-b-chat-f.yaml": ["A_B_CHAT_F_SECRET_3"],
    });
    const secrets = {
      A_B_CHAT_F_SECRET: "secret of a-b",
      A_B_CHAT_F_SECRET_2: "secret of a.b",
      A_B_CHAT_F_SECRET_3: "secret of the webhook",
    };
    const filled = new Workplace(place.folder, place.running, secrets);
    expect(await filled.run(["diff", "."])).toMatchObject(DONE);
    const other = await organization(place.files(), secrets);
    const again = new Workplace(emptyFolder(), other.place.running);
    expect(await again.run(["pull", "."])).toMatchObject(DONE);
    expect(again.files()).toEqual(place.files());
  });

  test("stay in files, and no new secret gets one that a file names", async () => {
    const { api, place } = await organization(
      {
        "assistants/c.yaml":
          "key: c\nname: C\nchat:\n  functions:\n    - { name: g, serverUrl: 'https://example.com/g', secretKey: '${A_B_CHAT_F_SECRET}' }\n",
      },
      { A_B_CHAT_F_SECRET: "secret of c" },
    );
    await makeAlike(api);
    for (const changed of ["Wrote", "No file has changed."]) {
      expect(await place.run(["pull", "."])).toMatchObject({
        ...DONE,
        stdout: expect.stringContaining(changed),
      });
      expect(variablesIn(place)).toEqual({
        "assistants/a-b.yaml": ["A_B_CHAT_F_SECRET_2"],
        "assistants/a.b.yaml": ["A_B_CHAT_F_SECRET_3"],
        "assistants/c.yaml": ["A_B_CHAT_F_SECRET"],
        "webhooks/a-b-chat-f.yaml": ["A_B_CHAT_F_SECRET_4"],
      });
    }
    await channel(api, "a-b", "Chat", { functions: [FUNCTION, { ...FUNCTION, name: "F" }] });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(variablesIn(place)["assistants/a-b.yaml"]).toEqual(["A_B_CHAT_F_SECRET_2", "A_B_CHAT_F_SECRET_5"]);
  });
});

test("a pull names a file that cannot be written", async () => {
  const { place } = await organization({
    "assistants/a.yaml": "key: a\nname: A\nchat: { prompt: { file: a.md } }\n",
    "assistants/a.md": "Hello\n",
  });
  place.remove("assistants/a.md");
  mkdirSync(join(place.folder, "assistants/a.md"));
  expect(await place.run(["pull", "."])).toMatchObject({
    code: 1,
    stderr: "assistants/a.md cannot be written (EISDIR).\n",
  });
});

test("a pull refuses two files with one key, and changes neither", async () => {
  const { place } = await organization({ "assistants/a.yaml": "key: a\nname: A\n" });
  place.write("assistants/b.yaml", "key: a\nname: B\n");
  const before = place.files();
  expect(await place.run(["pull", "."])).toEqual({
    code: 1,
    stdout: "",
    stderr: 'assistants/b.yaml:1:6: assistants/a.yaml has the key "a", too.\n',
  });
  expect(place.files()).toEqual(before);
});

test("a pull says what to do with the file of a record that the server does not have", async () => {
  const { api, place } = await organization({ "assistants/a.yaml": "key: a\nname: A\n" });
  await api.gql("mutation ($id: ID!) { deleteAssistant(id: $id) { id } }", { id: await idOf(api, "a") });
  expect((await place.run(["pull", "."])).stdout).toContain(
    "Not on the server: assistants/a.yaml. Delete the file if the record was deleted on purpose; otherwise apply creates it.\n",
  );
});

test("a pull says of which nodes and deployments the assistant is deleted, and leaves the files of such deployments", async () => {
  const { api, place } = await organization({
    "assistants/a.yaml": "key: a\nname: A\n",
    "workflows/intake.yaml":
      "key: intake\nname: Intake\nnodes:\n  start: { type: START, name: Start }\n  ask: { type: PROMPT, name: Ask, assistant: a }\nedges: [{ from: start, to: ask }]\n",
    "deployments/api.yaml": "key: api\ntype: API\nassistant: a\n",
  });
  await api.gql("mutation ($id: ID!) { deleteAssistant(id: $id) { id } }", { id: await idOf(api, "a") });
  const file = place.read("deployments/api.yaml");
  const NODE =
    'Written without an assistant: the node "Ask" in workflows/intake.yaml, because its assistant is deleted.\n';
  const ADVICE = "Its assistant is deleted: delete the deployment, or give it another assistant.\n";
  const pulled = await place.run(["pull", "."]);
  expect(pulled).toMatchObject(DONE);
  expect(pulled.stdout).toContain(NODE);
  expect(pulled.stdout).toContain(
    `Not written: the deployment api, whose file deployments/api.yaml stays as it is. ${ADVICE}`,
  );
  expect(pulled.stdout).not.toContain("Not on the server: deployments/api.yaml");
  expect(place.read("deployments/api.yaml")).toBe(file);

  const empty = new Workplace(emptyFolder(), place.running);
  const { stdout } = await empty.run(["pull", "."]);
  expect(stdout).toContain(NODE);
  expect(stdout).toContain(`Not written: the deployment api. ${ADVICE}`);
  expect(Object.keys(empty.files())).toEqual(["workflows/intake.yaml"]);
});

test("a pull writes a text in place of no record, even if a file names one as its text", async () => {
  const { api, place } = await organization({
    "assistants/a.yaml": "key: a\nname: A\n",
    "assistants/b.yaml": "key: b\nname: B\n",
  });
  await channel(api, "b", "Chat", { prompt: "One\ntwo" });
  await channel(api, "b", "Sms", { prompt: "Three\nfour" });
  const wrong =
    "key: b\nname: B\nchat: { prompt: { file: a.yaml } }\nsms: { prompt: { file: ../assistants/B.yaml } }\n";
  place.write("assistants/b.yaml", wrong);
  const { code, stdout } = await place.run(["pull", "."]);
  expect(code).toBe(0);
  expect(stdout).toContain("names b/chat-prompt.md instead of a.yaml: that is the file of a record.\n");
  expect(place.read("assistants/a.yaml")).toMatch(/^key: a\nname: A\n/);
  expect(place.read("assistants/b/chat-prompt.md")).toBe("One\ntwo\n");
  expect(place.read("assistants/b/sms-prompt.md")).toBe("Three\nfour\n");
  expect(await place.run(["diff", "."])).toMatchObject(DONE);
});

test("line ends CRLF in text files are those of git, and not part of the text", async () => {
  const { api, place } = await organization({
    "assistants/a.yaml": "key: a\nname: A\nchat: { prompt: { file: p.md } }\n",
    "assistants/p.md": "One\r\ntwo\r\n",
  });
  const { assistants } = await api.gql("{ assistants { data { chat { prompt } } } }");
  expect(assistants.data[0].chat.prompt).toBe("One\ntwo");
  await place.run(["pull", "."]);
  expect(place.read("assistants/p.md")).toBe("One\r\ntwo\r\n");
  await channel(api, "a", "Chat", { prompt: "One\nthree" });
  await channel(api, "a", "Sms", { prompt: "From\r\nelsewhere" });
  expect(await place.run(["pull", "."])).toMatchObject(DONE);
  expect(place.read("assistants/p.md")).toBe("One\r\nthree\r\n");
  expect(await place.run(["diff", "."])).toMatchObject(DONE);
});

test("a byte order mark in a text file is that of an editor, and not part of the text", async () => {
  const { api, place } = await organization({
    "assistants/a.yaml": "key: a\nname: A\nchat: { prompt: { file: a.md } }\n",
    "assistants/a.md": `\uFEFF${LONG("A")}\n`,
  });
  const promptOf = async () => {
    const { assistants } = await api.gql("{ assistants { data { chat { prompt } } } }");
    return assistants.data[0].chat.prompt as string;
  };
  expect(await promptOf()).toBe(LONG("A"));
  expect(await place.run(["pull", "."])).toMatchObject(DONE);
  expect(place.read("assistants/a.md")).toBe(`\uFEFF${LONG("A")}\n`);
  for (const text of [LONG("B"), `\uFEFF${LONG("C")}`]) {
    await channel(api, "a", "Chat", { prompt: text });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("assistants/a.md")).toBe(`\uFEFF${text}\n`);
    expect((await place.run(["apply", "."])).stdout).toContain("The server has everything");
    expect(await promptOf()).toBe(text);
  }
});

test.each(["pull", "validate", "apply", "diff"])(
  "%s refuses a file in place of a folder, and sends nothing",
  async (command) => {
    const { api, place } = await organization({});
    await create(api, { name: "A" });
    writeFileSync(join(place.folder, "parley"), "");
    const silent = new Workplace(place.folder, { ...place.running, url: "http://127.0.0.1:1" });
    expect(await silent.run([command])).toEqual({
      code: 1,
      stdout: "",
      stderr: "parley is a file, not a folder.\n",
    });
    expect((await api.gql("{ assistants { data { key } } }")).assistants.data).toEqual([{ key: null }]);
  },
);

test("a pull into a folder that cannot be made fails before it gives keys", async () => {
  const { api, place } = await organization({});
  await create(api, { name: "A" });
  expect(await place.run(["pull", "/proc/parley/files"])).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^The folder \/proc\/parley cannot be created: ENOENT.*\n$/),
  });
  expect((await api.gql("{ assistants { data { key } } }")).assistants.data).toEqual([{ key: null }]);
});

describe("a pull into a folder with links", () => {
  const FILES = {
    "assistants/a.yaml": "key: a\nname: A\nchat: { prompt: { file: a.md } }\n",
    "assistants/a.md": "Shared\n",
  };

  test("changes the file of a link, and leaves the link", async () => {
    const { api, place } = await organization(FILES);
    place.write("texts/shared.md", "Shared\n");
    place.remove("assistants/a.md");
    symlinkSync("../texts/shared.md", join(place.folder, "assistants/a.md"));
    await channel(api, "a", "Chat", { prompt: "Changed" });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("texts/shared.md")).toBe("Changed\n");
    expect(readlinkSync(join(place.folder, "assistants/a.md"))).toBe("../texts/shared.md");
  });

  test("writes nothing outside the folder", async () => {
    const { api, place } = await organization(FILES);
    const outside = join(emptyFolder(), "outside.md");
    writeFileSync(outside, "Mine");
    place.remove("assistants/a.md");
    for (const name of ["a.md", "a.md.new", "a.yaml.new"])
      symlinkSync(outside, join(place.folder, "assistants", name));
    await channel(api, "a", "Chat", { prompt: "Changed" });
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(readFileSync(outside, "utf8")).toBe("Mine");
    expect(place.read("assistants/a.md")).toBe("Changed\n");
  });

  test("ends, even if links lead back to their folders", async () => {
    const { place } = await organization(FILES);
    for (const name of ["one", "other"]) symlinkSync(".", join(place.folder, "assistants", name));
    expect((await place.run(["validate", "."])).stdout).toContain("is valid: 1 assistant,");
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
  });
});

test("an attached file keeps its path if its name has decomposed letters, as macOS writes them", async () => {
  const path = "hours/O\u0308ffnungszeiten.txt";
  const { place } = await organization({
    "assistants/a.yaml": `key: a\nname: A\nfiles: [${path}]\n`,
    [`assistants/${path}`]: "Nine to five",
  });
  expect(await place.run(["pull", "."])).toMatchObject(DONE);
  expect(Object.keys(place.files())).toEqual(["assistants/a.yaml", `assistants/${path}`]);
  expect(place.read("assistants/a.yaml")).toContain(`files: [${path}]\n`);
});

describe("attached files", () => {
  /** The files that the pulled assistant lists. */
  const listed = (place: Workplace, key: string): string[] =>
    /\nfiles:\n((?: +- .*\n)+)/.exec(place.read(`assistants/${key}.yaml`))![1]!.match(/(?<=- ).*/g)!;

  test("stand in the same order, whichever an assistant got first on a server", async () => {
    const assistant = (key: string, ...names: string[]) =>
      `key: ${key}\nname: ${key}\nfiles: [${names.map((name) => `${name}.txt`).join(", ")}]\n`;
    const { api, place } = await organization({
      "assistants/a.yaml": assistant("a", "b", "c"),
      "assistants/b.yaml": assistant("b", "c", "b"),
      ...{ "assistants/b.txt": "B", "assistants/c.txt": "C", "assistants/a.txt": "A" },
    });
    place.write("assistants/a.yaml", assistant("a", "b", "c", "a"));
    expect(await place.run(["apply", "."])).toMatchObject(DONE);
    const { files } = (await api.gql('{ assistants(search: "b") { data { files { name } } } }')).assistants
      .data[0];
    expect(files).toEqual([{ name: "b.txt" }, { name: "c.txt" }]); // not as its file lists them
    expect(await place.run(["pull", "."])).toMatchObject(DONE);
    expect(place.read("assistants/b.yaml")).toContain("files: [c.txt, b.txt]\n");
    const again = new Workplace(emptyFolder(), place.running);
    expect(await again.run(["pull", "."])).toMatchObject(DONE);
    expect(listed(again, "a")).toEqual(["a/files/a.txt", "a/files/b.txt", "a/files/c.txt"]);
    expect(listed(again, "b")).toEqual(["b/files/b.txt", "b/files/c.txt"]);
  });
});

test("an attached file with a merge conflict stays as it was uploaded, and another one is refused", async () => {
  const conflict = "<<<<<<< HEAD\nOne\n=======\nTwo\n>>>>>>> branch\n";
  const { api, place } = await organization({
    "assistants/a.yaml": "key: a\nname: A\nfiles: [git.md]\n",
    "assistants/git.md": "About git.",
  });
  const [{ id: assistantId }] = (await api.gql("{ assistants { data { id } } }")).assistants.data;
  const attach =
    "mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id } }";
  const { id: fileId } = await upload(api, { name: "guide.md", content: conflict });
  await api.gql(attach, { assistantId, fileId });
  expect(await place.run(["pull", "."])).toMatchObject(DONE);
  expect(place.read("assistants/a/files/guide.md")).toBe(conflict);
  for (const command of ["validate", "diff", "apply"])
    expect(await place.run([command, "."])).toMatchObject(DONE);
  place.replace("assistants/a.yaml", "name: A", "name: B");
  expect(await place.run(["apply", "."])).toMatchObject(DONE);
  place.write("assistants/git.md", conflict.replace("One", "Another"));
  expect(await place.run(["apply", "."])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^assistants\/git\.md:1:1: The text contains a merge conflict: .*\n$/),
  });
});

test("a text with a merge conflict is written so that the other commands read it", async () => {
  const conflict = (indent = "") =>
    `Resolve this:\n${["<<<<<<< HEAD", "One", "=======", "Two", ">>>>>>> branch"].map((line) => indent + line).join("\n")}\n`;
  const { api, place } = await organization({
    "assistants/a.yaml": "key: a\nname: A\nchat: { prompt: { file: a.md } }\n",
    "assistants/a.md": "Be brief.",
  });
  await channel(api, "a", "Chat", {
    prompt: conflict(),
    functions: [{ name: "f", description: conflict() }],
  });
  await channel(api, "a", "Voice", { prompt: conflict(), endCallMessage: conflict("  ") });
  for (const folder of [place, new Workplace(emptyFolder(), place.running)]) {
    expect(await folder.run(["pull", "."])).toMatchObject(DONE);
    for (const command of ["validate", "diff"]) expect(await folder.run([command, "."])).toMatchObject(DONE);
    expect(await folder.run(["pull", "."])).toMatchObject({ ...DONE, stdout: "No file has changed.\n" });
  }
});
