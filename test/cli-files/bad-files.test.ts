import { spawn } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { emptyFolder, runToEnd } from "../support/server";
import { until } from "../support/until";
import { Workplace } from "./folders";

const running = useApp();
const ASSISTANT = "assistants/a.yaml";
const ok = "key: a\nname: A\n";

type Case = [what: string, path: string, content: string | Buffer, place: string, message: string];
const CASES: Case[] = [
  [
    "a misspelled field",
    ASSISTANT,
    `${ok}chat:\n  promt: x\n`,
    "4:3",
    'Unknown field "promt". Did you mean prompt?',
  ],
  [
    "an unknown field",
    ASSISTANT,
    `${ok}zzzzzz: 1\n`,
    "3:1",
    'Unknown field "zzzzzz". Known fields: key, name',
  ],
  [
    "a wrong type",
    ASSISTANT,
    `${ok}chat:\n  temperature: warm\n`,
    "4:16",
    'chat.temperature must be a number; got "warm".',
  ],
  [
    "a number in place of a text",
    "assistants/a.yaml",
    "name: 007\nkey: a\n",
    "1:7",
    'name must be a text; got 7. Write it in quotes: "007".',
  ],
  [
    "a number out of range",
    ASSISTANT,
    `${ok}chat:\n  temperature: 7\n`,
    "4:16",
    "chat.temperature must be at most 2; got 7.",
  ],
  [
    "an unknown model",
    ASSISTANT,
    `${ok}chat:\n  model: GPT_0\n`,
    "4:10",
    "chat.model must be one of GPT_4_O",
  ],
  [
    "a null that is not allowed",
    ASSISTANT,
    `${ok}chat:\n  prompt: null\n`,
    "4:11",
    "chat.prompt must be a text or fields; got null.",
  ],
  [
    "a null where one of several values is expected",
    ASSISTANT,
    `${ok}missingVariables: null\n`,
    "3:19",
    "missingVariables must be one of KEEP, BLANK, REFUSE; got null.",
  ],
  ["a duplicate field", ASSISTANT, `${ok}name: B\n`, "3:1", "The field name occurs twice."],
  ["a missing field", ASSISTANT, "key: a\n", "1:1", "The file must have the field name."],
  ["a key of another form", ASSISTANT, "name: A\nkey: A b\n", "2:6", "key must consist of lowercase letters"],
  ["broken YAML", ASSISTANT, `${ok}chat: [\n`, "4:1", "Flow sequence in block collection must be"],
  ["a list for a record", ASSISTANT, "- a\n", "1:1", "The file must have fields"],
  ["an empty file", ASSISTANT, "", "1:1", "The file must have fields"],
  [
    "bytes",
    ASSISTANT,
    `${ok}description: !!binary aGk=\n`,
    "3:14",
    "Unresolved tag: tag:yaml.org,2002:binary.",
  ],
  ["an unknown tag", ASSISTANT, `${ok}description: !env X\n`, "3:14", "Unresolved tag: !env."],
  ["two documents", ASSISTANT, `${ok}---\n${ok}`, "3:1", "A file must contain one document"],
  ["bytes that are no text", ASSISTANT, Buffer.from([0x6b, 0xff]), "1:1", "The file is not a text in UTF-8."],
  [
    "a secret",
    ASSISTANT,
    `${ok}chat:\n  functions:\n    - name: f\n      secretKey: hunter2\n`,
    "6:18",
    "chat.functions.0.secretKey must name an environment variable",
  ],
  [
    "a secret of the other form",
    ASSISTANT,
    `${ok}chat:\n  functions:\n    - name: f\n      server: { secret: hunter2 }\n`,
    "6:25",
    "chat.functions.0.server.secret must name an environment variable",
  ],
  [
    "a second field in braces",
    ASSISTANT,
    `${ok}chat: { temperature: 1, model: GPT_4_O, temperature: 1 }\n`,
    "3:41",
    "The field temperature occurs twice.",
  ],
  [
    "a value behind an alias",
    ASSISTANT,
    `${ok}chat: &c\n  temperature: 7\nsms: *c\n`,
    "4:16",
    "chat.temperature must be at most 2; got 7.",
  ],
  ["an alias of nothing", ASSISTANT, `${ok}chat: *c\n`, "3:7", "No value before *c has the anchor &c."],
  [
    "a merge key",
    ASSISTANT,
    `${ok}chat:\n  functions:\n    - <<: { name: f }\n`,
    "5:7",
    "A merge key (<<) is not part of YAML 1.2: repeat the fields, or use an alias for a whole value.",
  ],
  [
    "a list as the name of a field",
    ASSISTANT,
    `${ok}variables:\n  ? [a, b]\n  : 1\n`,
    "4:5",
    "The name of a field must be a text, and not a list, fields or an alias.",
  ],
  [
    "a secret of digits",
    ASSISTANT,
    `${ok}chat:\n  functions:\n    - { name: f, secretKey: 48151623 }\n`,
    "5:29",
    "chat.functions.0.secretKey must name an environment variable, as in ${NAME}",
  ],
  [
    "an alias of itself",
    ASSISTANT,
    `${ok}variables: &v\n  x: { y: *v }\n`,
    "4:11",
    "*v stands for a value that contains it.",
  ],
  [
    "an absolute path",
    ASSISTANT,
    `${ok}files:\n  - { file: /etc/hostname, name: h }\n`,
    "4:13",
    "/etc/hostname is an absolute path. Write the path from the folder of this file.",
  ],
  [
    "an absolute path of Windows",
    ASSISTANT,
    `${ok}chat:\n  prompt:\n    file: C:\\prompts\\a.md\n`,
    "5:11",
    "C:\\prompts\\a.md is an absolute path.",
  ],
  [
    "a wrong value in a node whose name is a number",
    "workflows/w.yaml",
    "key: w\nname: W\nnodes:\n  1: { type: START, name: 5 }\n",
    "4:27",
    "nodes.1.name must be a text; got 5.",
  ],
  [
    "a text whose file is missing",
    ASSISTANT,
    `${ok}chat:\n  prompt:\n    file: none.md\n`,
    "5:11",
    "none.md does not exist.",
  ],
  [
    "a text outside the folder",
    ASSISTANT,
    `${ok}chat:\n  prompt: { file: ../../../../../../etc/hostname }\n`,
    "4:19",
    "is outside the folder.",
  ],
  [
    "a link out of the folder",
    ASSISTANT,
    `${ok}files:\n  - link.txt\n`,
    "4:5",
    "link.txt is outside the folder.",
  ],
  [
    "an unknown node",
    "workflows/w.yaml",
    "key: w\nname: W\nnodes:\n  s: { type: START, name: S }\nedges:\n  - { from: s, to: t }\n",
    "6:20",
    'There is no node "t" in this file.',
  ],
  [
    "no address",
    "webhooks/w.yaml",
    "key: w\nurl: example\n",
    "2:6",
    "The url must begin with http:// or https://.",
  ],
  [
    "an origin with a path",
    ASSISTANT,
    `${ok}allowedOrigins: ["https://a.example", "https://ok.example/path"]\n`,
    "3:39",
    "allowedOrigins.1 must be an origin such as https://www.example.com",
  ],
  [
    "an allowed origin twice",
    ASSISTANT,
    `${ok}allowedOrigins: ["https://a.example", "https://a.example"]\n`,
    "3:39",
    "allowedOrigins.1 repeats allowedOrigins.0.",
  ],
  [
    "an event twice",
    "webhooks/w.yaml",
    "key: w\nurl: https://a.example/\nsecret: ${SECRET}\nevents: [session-end, session-start, session-end]\n",
    "4:38",
    "events.2 repeats events.0.",
  ],
  [
    "a NUL in a text",
    ASSISTANT,
    `${ok}description: "a\\0b"\n`,
    "3:14",
    "description must not contain the character U+0000.",
  ],
  [
    "half a character in a text of a function",
    ASSISTANT,
    `${ok}chat:\n  functions:\n    - name: f\n      description: "\\uD800"\n`,
    "6:20",
    "chat.functions.0.description must not contain a lone surrogate.",
  ],
  [
    "a text of over 1 MiB",
    ASSISTANT,
    `${ok}chat:\n  prompt: ${"é".repeat(600_000)}\n`,
    "4:11",
    "chat.prompt must be at most 1 MiB.",
  ],
  [
    "a number that JSON lacks",
    ASSISTANT,
    `${ok}variables: { a: 1, b: [2, .inf] }\n`,
    "3:27",
    "variables.b.1 is a number out of range.",
  ],
  ["a name of spaces", ASSISTANT, 'key: a\nname: " "\n', "2:7", "name must not be empty."],
  [
    "a file that assistants cannot read",
    ASSISTANT,
    `${ok}files:\n  - image.png\n`,
    "4:5",
    "image.png is a file of type image/png, which assistants cannot read.",
  ],
  [
    "a file that is too large",
    ASSISTANT,
    `${ok}files:\n  - hours.txt\n  - large.txt\n`,
    "5:5",
    "large.txt has 26214401 bytes; files of this server may have 26214400.",
  ],
  [
    "the same file twice",
    ASSISTANT,
    `${ok}files:\n  - hours.txt\n  - ./hours.txt\n`,
    "5:5",
    "files.0 is the same file: hours.txt with the same content.",
  ],
  [
    "a name that no file can have",
    ASSISTANT,
    `${ok}files:\n  - { file: hours.txt, name: a/b.txt }\n`,
    "4:5",
    'A file cannot have the name "a/b.txt"; give it the name "b.txt".',
  ],
  [
    "an edge without its fields",
    "workflows/w.yaml",
    "key: w\nname: W\nnodes:\n  s: { type: START, name: S }\n  t: { type: END, name: T }\nedges:\n  - { from: s, to: t, kind: MODEL }\n",
    "7:5",
    "edges.0.description is required for an edge of the kind MODEL.",
  ],
  [
    "a version for a workflow",
    "deployments/d.yaml",
    "key: d\ntype: API\nassistantVersion: 1\nworkflow: w\n",
    "3:19",
    "A deployment of a workflow has no version of an assistant.",
  ],
  [
    "a version beyond all numbers",
    "deployments/d.yaml",
    "key: d\ntype: API\nassistantVersion: 3000000000\nassistant: a\n",
    "3:19",
    "assistantVersion must be at most 2147483647; got 3000000000.",
  ],
  [
    "two targets",
    "deployments/d.yaml",
    "key: d\ntype: API\nassistant: a\nworkflow: w\n",
    "4:11",
    "The file must have either assistant or workflow.",
  ],
  [
    "no target",
    "deployments/d.yaml",
    "key: d\ntype: API\n",
    "1:1",
    "The file must have either assistant or workflow.",
  ],
];

const IMAGE = Buffer.from("89504e470d0a1a0a0000000d494844520000000100000001080600000000", "hex");
const workplace = () => new Workplace(emptyFolder(), running);
const names = async () =>
  (await running.api.gql("{ assistants { data { name } } }")).assistants.data as unknown[];
let before: unknown[];
beforeAll(async () => {
  before = await names();
});

describe("a file is refused with its line and column, and nothing is applied:", () => {
  const COMMANDS = ["validate", "apply"];
  /** The first line of each command about the file of a case. */
  const said = new Map<Case, string[]>();
  const fileOf = (one: Case) => one[1].replace(/\w+\.yaml$/, `${CASES.indexOf(one)}.yaml`);

  /** @returns cases of whose files nothing was said, as others had problems that prevent reading them */
  async function refused(cases: readonly Case[]): Promise<Case[]> {
    const place = workplace();
    place.write("assistants/good.yaml", "key: good\nname: Good\n");
    for (const one of cases)
      place.write(
        fileOf(one),
        Buffer.isBuffer(one[2]) ? one[2] : one[2].replace(/^key: \w$/m, `$&-${CASES.indexOf(one)}`),
      );
    symlinkSync("/etc/hostname", join(place.folder, "assistants/link.txt"));
    place.write("assistants/image.png", IMAGE);
    place.write("assistants/hours.txt", "We open at nine.");
    place.write("assistants/large.txt", "x".repeat(26_214_401));
    const results = await Promise.all(COMMANDS.map((command) => place.run([command, "."])));
    for (const { code, stdout, stderr } of results) {
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).not.toContain("hunter2");
    }
    for (const one of cases) {
      const lines = results.flatMap(
        ({ stderr }) => stderr.split("\n").find((line) => line.startsWith(`${fileOf(one)}:`)) ?? [],
      );
      if (lines.length > 0) said.set(one, lines);
    }
    return cases.filter((one) => !said.has(one));
  }

  beforeAll(async () => {
    let left: readonly Case[] = CASES;
    // YAML, then the fields, then what they refer to.
    for (let step = 0; step < 3 && left.length > 0; step++) left = await refused(left);
  });

  test.each(CASES.map((one) => [one[0], one] as const))("%s", (_, one) => {
    const [, , , position, message] = one;
    const lines = said.get(one) ?? [];
    expect(lines).toHaveLength(COMMANDS.length);
    for (const line of lines) {
      expect(line.startsWith(`${fileOf(one)}:${position}: `)).toBe(true);
      expect(line).toContain(message);
    }
  });

  test("not one of them", async () => expect(await names()).toEqual(before));
});

test("all problems of all files are listed at once", async () => {
  const place = workplace();
  place.write("assistants/a.yaml", "key: a\nname: 1\nchat: { temperature: 9, nonsense: 1 }\n");
  place.write("deployments/d.yaml", "key: d\ntype: PIGEON\nassistant: a\n");
  const { stderr } = await place.run(["validate", "."]);
  expect(
    stderr
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[0]),
  ).toEqual([
    "assistants/a.yaml:2:7:",
    "assistants/a.yaml:3:22:",
    "assistants/a.yaml:3:25:",
    "deployments/d.yaml:2:7:",
  ]);
});

test("validate and diff warn about functions that a model is never offered, at their places", async () => {
  const place = workplace();
  const functions = ["my function", "f", "f"].map((name) => `    - { name: ${name} }\n`).join("");
  place.write("assistants/a.yaml", `key: a-of-names\nname: A\nchat:\n  functions:\n${functions}`);
  for (const command of ["validate", "diff"]) {
    const { stdout, stderr } = await place.run([command, "."]);
    expect(`${stdout}${stderr}`.split("\n").filter((line) => line.includes("never offered"))).toEqual([
      expect.stringMatching(
        /^assistants\/a\.yaml:5:\d+: Warning: The function has no name of 1 to 64 letters/,
      ),
      expect.stringMatching(/^assistants\/a\.yaml:7:\d+: Warning: The name f is used twice/),
    ]);
  }
});

test("a problem of a value that aliases repeat is listed once, and so is a warning", async () => {
  const place = workplace();
  const functions = (url: string) =>
    `chat:\n  functions:\n    - &f { name: f, serverUrl: "${url}", secretKey: "\${PARLEY_UNSET}" }\nsms: { functions: [*f] }\n`;
  place.write("assistants/a.yaml", `key: a-of-aliases\nname: A\n${functions("https://${A-B}/f")}`);
  const lines = async (command: string) => {
    const { stdout, stderr } = await place.run([command, "."]);
    return `${stdout}${stderr}`.split("\n").filter((line) => line.startsWith("assistants/"));
  };
  expect(await lines("validate")).toEqual([expect.stringMatching(/^assistants\/a\.yaml:5:\d+: Warning: /)]);
  expect(await lines("diff")).toEqual([
    expect.stringContaining('the server has no assistant with the key "a-of-aliases" yet.'),
  ]);
});

test("a file whose values are nested too deeply says so", async () => {
  const place = workplace();
  const deep = (depth: number) => `${"{a: ".repeat(depth)}1${"}".repeat(depth)}`;
  place.write("assistants/a.yaml", `key: a\nname: A\nvariables:\n  a: ${deep(20_000)}\n`);
  expect((await place.run(["validate", "."])).stderr).toMatch(
    /^assistants\/a\.yaml:4:\d+: The values are nested too deeply\.\n$/,
  );
});

test("a merge conflict left in a file is refused once with its place, and a text with one of the markers is not", async () => {
  const conflict = "<<<<<<< HEAD\nOne\n=======\nTwo\n>>>>>>> branch\n";
  const place = workplace();
  place.write(
    "assistants/a.yaml",
    `${ok}chat: { prompt: { file: a.md } }\nsms: { prompt: { file: git.md } }\nfiles: [a.txt]\n`,
  );
  place.write("assistants/a.md", `Hello\n${conflict}`);
  place.write("assistants/a.txt", conflict.replaceAll("\n", "\r\n"));
  place.write("assistants/git.md", "About git\n=======\n<<<<<<< HEAD\n\n `>>>>>>> branch`\n");
  const MESSAGE = "The text contains a merge conflict: resolve it, and remove its markers.";
  for (const command of ["validate", "diff", "apply"])
    expect(await place.run([command, "."])).toMatchObject({
      code: 1,
      stderr: `assistants/a.md:2:1: ${MESSAGE}\n`,
    });
  place.write("assistants/a.md", "Hello\n");
  for (const command of ["diff", "apply"])
    expect(await place.run([command, "."])).toMatchObject({
      code: 1,
      stderr: `assistants/a.txt:1:1: ${MESSAGE} If the file is meant to have them, attach it to an assistant on the server first.\n`,
    });
  expect(await place.run(["validate", "."])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^assistants\/a\.txt:1:1: Warning: The text contains a merge conflict\./),
  });
  place.write("assistants/b.yaml", `key: b\n${conflict.replace("One", "name: B").replace("Two", "name: C")}`);
  place.write(
    "assistants/c.yaml",
    `key: c\nname: C\nchat:\n  prompt: |\n${conflict.replace(/^(?=.)/gm, "    ")}`,
  );
  for (const command of ["validate", "pull"])
    expect(await place.run([command, "."])).toMatchObject({
      code: 1,
      stderr: `assistants/b.yaml:2:1: ${MESSAGE}\nassistants/c.yaml:5:5: ${MESSAGE}\n`,
    });
});

test("a file in place of a folder of records is named", async () => {
  const place = workplace();
  place.write("assistants/a.yaml", ok);
  place.write("webhooks", "");
  for (const command of ["validate", "pull"])
    expect(await place.run([command, "."])).toMatchObject({
      code: 1,
      stderr: "webhooks:1:1: This must be a folder, not a file.\n",
    });
});

test("two files cannot have the same key", async () => {
  const place = workplace();
  place.write("assistants/a.yaml", ok);
  place.write("assistants/b.yaml", "name: B\nkey: a\n");
  expect((await place.run(["validate", "."])).stderr).toBe(
    'assistants/b.yaml:2:6: assistants/a.yaml has the key "a", too.\n',
  );
});

test("a text cannot be the file of a record, which a pull would overwrite", async () => {
  const place = workplace();
  place.write("assistants/a.yaml", ok);
  place.write("assistants/b.yaml", "key: b\nname: B\nchat: { prompt: { file: a.yaml } }\n");
  expect((await place.run(["validate", "."])).stderr).toBe(
    "assistants/b.yaml:3:25: a.yaml is the file of a record.\n",
  );
});

test("validate reads an attached file once, so its digest and its type are of the same content", async () => {
  const place = workplace();
  place.write("assistants/a.yaml", `${ok}files: [hours.txt]\n`);
  const pipe = join(place.folder, "assistants/hours.txt");
  // The pipe is gone once it is opened.
  const script = 'mkfifo "$1" && exec 3> "$1" && rm "$1" && echo "We open at nine." >&3';
  const writer = spawn("/bin/sh", ["-c", script, "sh", pipe], { stdio: "ignore" });
  try {
    await until(() => existsSync(pipe));
    expect(await place.run(["validate", "."])).toMatchObject({ code: 0, stderr: "" });
  } finally {
    writer.kill();
  }
});

test("names that neither the files nor the server have are refused before anything is applied", async () => {
  const place = workplace();
  place.write("assistants/a.yaml", `${ok}project: Nowhere\n`);
  place.write(
    "deployments/d.yaml",
    "key: d\ntype: SMS\nassistant: ghost\nassistantVersion: 5\nnumber: '+14155550100'\n",
  );
  const { code, stderr } = await place.run(["apply", "."]);
  expect([code, stderr.trim().split("\n")]).toEqual([
    1,
    [
      'assistants/a.yaml:3:10: The server has no project "Nowhere".',
      'deployments/d.yaml:3:12: Neither the files nor the server have assistant "ghost".',
      "deployments/d.yaml:5:9: The number +14155550100 is not connected on the server.",
    ],
  ]);
  expect(await names()).toEqual(before);
});

test("a value that only the server can check is refused with its place in the file", async () => {
  const place = workplace();
  place.write("webhooks/w.yaml", "key: w\nurl: https://user:word@example.com/\nsecret: ${SECRET}\n");
  const { code, stderr } = await new Workplace(place.folder, running, { SECRET: "a-secret-word" }).run([
    "apply",
    ".",
  ]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^webhooks\/w\.yaml:2:6: url /)]);
});

test.each([
  [["apply"], "There is no folder parley."],
  [["apply", "."], "has no files. They belong in assistants/"],
  [["validate", "."], "has no files. They belong in assistants/"],
  [["push"], "Name one command"],
  [["pull", "--prune"], "pull has no option --prune."],
  [
    ["diff", ".", "--url", "nonsense"],
    '--url must be a URL that begins with http:// or https://; got "nonsense".',
  ],
  ...["graphql", "rest", "rest/v1/"].flatMap((path) =>
    ["pull", "diff", "validate"].map((name): [string[], string] => [
      [name, ".", "--url", `http://127.0.0.1:4000/${path}`],
      "--url must be the address of the server, without /graphql or /rest: --url http://127.0.0.1:4000\nUsage: parley ",
    ]),
  ),
])("parley %j says what is wrong", async (args, message) => {
  const { code, stderr } = await workplace().run(args);
  expect(code).toBe(1);
  expect(stderr).toContain(args[0] === "push" ? 'no command "push"' : message);
});

test.each([
  ["nonsense", 'PARLEY_URL must be a URL that begins with http:// or https://; got "nonsense".'],
  [
    "http://127.0.0.1:4000/graphql",
    "PARLEY_URL must be the address of the server, without /graphql or /rest: PARLEY_URL=http://127.0.0.1:4000\n",
  ],
])("an address from PARLEY_URL is refused by the name of the variable: %s", async (PARLEY_URL, message) => {
  const { code, stderr } = await new Workplace(emptyFolder(), running, { PARLEY_URL }).run(["diff", "."]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
});

test.each(["pull", "apply"])(
  "an unknown option of %s is named with the usage of that command alone",
  async (name) => {
    const { code, stderr } = await workplace().run([name, "--bogus"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`Unknown option '--bogus'.\nUsage: parley ${name} [DIR] `),
    ]);
    expect(stderr).not.toContain("diff");
  },
);

test("an unknown command of a checkout is named", async () => {
  for (const [args, message] of [
    [["aply"], 'Parley has no command "aply".\nUsage: npm run'],
    [[], "Name one command, and at most one folder."],
    [["diff", "a", "b"], "Name one command, and at most one folder."],
  ] as const)
    expect(await runToEnd("cli/files", {}, ...args)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining(message) },
    });
});

test("a key that the server does not know is refused, and not printed", async () => {
  const place = new Workplace(emptyFolder(), { url: running.url, secretKey: "parley_sk_wrong" });
  const { code, stderr } = await place.run(["pull", "."]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/key/i);
  expect(stderr).not.toContain("parley_sk_wrong");
});

test("files that look like records are refused unless a command reads them or a record names them", async () => {
  const place = workplace();
  place.write("assistants/a.yaml", `${ok}chat: { prompt: { file: a/prompt.yaml } }\nfiles: [a/data.json]\n`);
  place.write("assistants/a/prompt.yaml", "Be brief.");
  place.write("assistants/a/data.json", "{}");
  place.write("assistants/a/notes.md", "Notes");
  for (const path of [".github/workflows/ci.yaml", "package.json", "other/data.json"])
    place.write(path, "{}");
  expect(await place.run(["validate", "."])).toMatchObject({ code: 0, stderr: "" });
  for (const path of [
    "assistants/sub/zz.yaml",
    "assistants/YY.YAML",
    "assistants/jj.json",
    "other/x.yml",
    "x.yaml",
  ])
    place.write(path, ok);
  const { code, stderr } = await place.run(["validate", "."]);
  const below =
    "No command reads this file. Records belong in assistants/, webhooks/, workflows/, deployments/, not in folders below them.";
  const named = "No command reads this file. The names of files with records end in .yaml or .yml.";
  expect([code, stderr.trim().split("\n")]).toEqual([
    1,
    [
      `assistants/YY.YAML:1:1: ${named}`,
      `assistants/jj.json:1:1: ${named}`,
      `assistants/sub/zz.yaml:1:1: ${below}`,
      `other/x.yml:1:1: ${below}`,
      `x.yaml:1:1: ${below}`,
    ],
  ]);
});
