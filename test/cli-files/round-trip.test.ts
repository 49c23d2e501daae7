import { beforeAll, expect, test } from "@jest/globals";
import Ajv from "ajv";
import fc from "fast-check";
import { parse } from "yaml";
import { useApp } from "../support/app";
import { emptyFolder } from "../support/server";
import { newFlow } from "../support/flows";
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

test("the served schemas, which editors use, accept every pulled file, and no other field or type in it", async () => {
  const place = workplace();
  await place.run(["pull", "."]);
  const yaml = Object.entries(place.files()).filter(([name]) => name.endsWith(".yaml"));
  expect(yaml).toHaveLength(5);
  for (const [name, text] of yaml) {
    const kind = name.split("/", 1)[0]!.replace(/s$/, "");
    const { body } = await running.api.request("GET", `/schemas/${kind}.json`);
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(body as object);
    const record = parse(text) as Record<string, unknown>;
    const isValid = validate(record);
    expect([name, isValid, validate.errors]).toEqual([name, true, null]);
    expect([name, validate({ ...record, unknown: 1 })]).toEqual([name, false]);
    for (const field of Object.keys(record))
      expect([name, field, validate({ ...record, [field]: 1.5 })]).toEqual([name, field, false]);
  }
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

/** Names that a file system refuses, or takes for another's. */
const FILE_NAMES = [
  ...[`${"a".repeat(251)}.txt`, `${"A".repeat(251)}.txt`, `${"😀".repeat(62)}.txt`, `${"b".repeat(240)}.txt`],
  ...[
    "nul",
    "x.",
    "...",
    ".hidden.yaml",
    "rec.yaml",
    "a#b.txt",
    "hours: 9.txt",
    "- x",
    "~",
    "123",
    "e\u0301.txt",
    "É.txt",
  ],
];

/** Texts that YAML, its tools or files could change. */
const TEXTS = [
  ...[
    "",
    " ",
    "\n",
    "\n\n",
    "\t",
    "\r",
    "\r\n",
    "a\r\nb",
    "a\rb",
    "a\n",
    "a\n\n",
    "\na",
    " a",
    "a ",
    "a \n b \n",
  ],
  ...[
    "---",
    "...",
    "a\n---\nb",
    "a\n...\nb",
    "# a",
    "a # b",
    "a: b",
    "- a",
    "? a",
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a",
    "|",
    ">",
  ],
  ...[
    "yes",
    "No",
    "on",
    "null",
    "~",
    "1e3",
    "0o17",
    "017",
    "0x1F",
    "1_000",
    "12:30:45",
    "2020-01-01",
    ".inf",
    "<<",
    "=",
    "true",
  ],
  ...[
    "'",
    '"',
    "\\",
    "\\n",
    "{a}",
    "[a",
    "${A}",
    "$${A}",
    "\uFEFF",
    "\uFEFFa\nb",
    "a\u2028b",
    "a\u0085b\n",
    "\u0007",
    "\u00a0",
    "😀",
  ],
  ...[
    "flow0.",
    "x".repeat(5_000),
    `${"long word ".repeat(50)}\n  indented\n\ttab\n`,
    "  indented\nfirst",
    "e\u0301",
    "a\n \nb",
    "a\n\n\n",
  ],
];
const NASTY = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.string({ maxLength: 40 }),
);
const NAME = NASTY.map((text) => text.slice(0, 100)).filter((text) => text.trim() !== "");
const VALUE = fc.oneof(
  NASTY,
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
  fc.boolean(),
  fc.constant(null),
);
const JSON_OBJECT = fc.dictionary(
  NASTY.map((text) => text.slice(0, 60)).filter((name) => name !== "__proto__"),
  fc.oneof(
    VALUE,
    fc.array(fc.oneof(VALUE, fc.array(VALUE, { maxLength: 2 }), fc.dictionary(NAME, VALUE, { maxKeys: 2 })), {
      maxLength: 3,
    }),
  ),
  { maxKeys: 4 },
);
const MESSAGES = { initialMessage: NASTY, prompt: NASTY, resources: NASTY };
const MODEL = { temperature: fc.constantFrom(0, 0.1, 1e-7, 2), maxTokensOutput: fc.constantFrom(1, 16_384) };
const RAG = {
  isRagEnabled: fc.boolean(),
  forceRag: fc.boolean(),
  ragTriggerTopics: NASTY,
  preserveRagResult: fc.boolean(),
};
const DOCUMENT = fc.record({
  name: NAME,
  description: fc.option(NASTY),
  variables: fc.option(JSON_OBJECT),
  voice: fc.record({
    ...MESSAGES,
    ...MODEL,
    endCallMessage: NASTY,
    endCallPhrases: NASTY,
    backchanneling: fc.boolean(),
  }),
  sms: fc.record({
    ...MESSAGES,
    ...MODEL,
    keywords: NASTY,
    smsMode: fc.boolean(),
    voiceCallMode: fc.boolean(),
  }),
  chat: fc.record({ ...MESSAGES, ...MODEL, quickRepliesEnabled: fc.boolean(), chatMode: fc.boolean() }),
  theme: fc.record({ theme: JSON_OBJECT, mode: fc.constantFrom("CHAT_ONLY", "VOICE_ONLY") }),
  rag: fc.record({ voice: fc.record(RAG), sms: fc.record(RAG), chat: fc.record(RAG) }),
});

test("whatever texts assistants, files and nodes have, another organization gets the same, and comments stay", async () => {
  const { api, secretKey } = await running.otherOrganization();
  const make =
    'mutation ($document: AssistantDraftInput!) { createAssistantFromDocument(input: { name: "A" }, document: $document) { id } }';
  const names = [...FILE_NAMES, ...fc.sample(NAME, { numRuns: 20, seed: 7 })];
  const ids: string[] = [];
  const samples = fc.sample(DOCUMENT, { numRuns: 20, seed: 7 });
  for (const document of [{ name: "A", variables: { "<<": { "<<": 1 } } }, ...samples])
    ids.push((await api.gql(make, { document })).createAssistantFromDocument.id);
  for (const name of names) {
    const form = new FormData();
    form.set("file", new Blob([`Content of ${name}`], { type: "text/plain" }), name);
    const { id: fileId } = await api.post("/rest/v1/files/upload", form, 201);
    await api.gql(
      "mutation ($id: ID!, $fileId: ID!) { attachFile(assistantId: $id, fileId: $fileId) { id } }",
      { id: ids[0], fileId },
    );
  }
  const nodes = fc.sample(
    fc.record({
      name: NAME,
      instructions: NASTY.filter((text) => text.trim() !== ""),
      metadata: JSON_OBJECT,
    }),
    { numRuns: 20, seed: 7 },
  );
  await newFlow(
    api,
    Object.fromEntries(
      nodes.map((node, index) => [`n${index}`, { type: "PROMPT", assistantId: ids[1], ...node }]),
    ),
  );

  const place = workplace({ url: running.url, secretKey });
  expect(await place.run(["pull", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(await place.run(["diff", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(await place.run(["pull", "."])).toMatchObject({ stdout: "No file has changed.\n", stderr: "" });
  const other = await running.otherOrganization();
  const there = new Workplace(place.folder, { url: running.url, secretKey: other.secretKey });
  expect(await there.run(["apply", "."])).toMatchObject({ code: 0, stderr: "" });
  const again = workplace(there.running);
  expect(await again.run(["pull", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(again.files()).toEqual(place.files());
  const others = fc.sample(DOCUMENT, { numRuns: ids.length, seed: 8 });
  for (const path of Object.keys(place.files()).filter((one) => /^assistants\/[^/]+\.yaml$/.test(one)))
    place.write(
      path,
      `# First\n${place.read(path)}# Last\n`.replace(/^( +)(model: .*)$/gm, "$1# Above\n$1$2 # beside"),
    );
  expect(await place.run(["pull", "."])).toMatchObject({ stdout: "No file has changed.\n", stderr: "" });
  for (const [index, id] of ids.entries())
    await api.gql(
      "mutation ($id: ID!, $input: AssistantDraftInput!) { updateAssistantDocument(assistantId: $id, input: $input) { id } }",
      { id, input: others[index] },
    );
  expect(await place.run(["pull", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(await place.run(["diff", "."])).toMatchObject({ code: 0, stderr: "" });
  expect(await place.run(["pull", "."])).toMatchObject({ stdout: "No file has changed.\n", stderr: "" });
  for (const [path, text] of Object.entries(place.files()).filter(([path]) =>
    /^assistants\/[^/]+\.yaml$/.test(path),
  )) {
    expect([path, text]).toEqual([path, expect.stringMatching(/^# First\n[^]*# Last\n$/)]);
    expect(text.match(/# Above\n +model: .* # beside\n/g)).toHaveLength(3);
  }
});
