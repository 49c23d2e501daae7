import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { useApp } from "../support/app";
import { newAssistant, newChat, UNKNOWN_ID } from "../support/factories";
import { upload } from "../support/files";
import { importerOf } from "../support/importers";

const running = useApp();

const DRAFT = "assistantId basedOn updatedAt document";
const SAVE = `mutation ($id: ID!, $input: AssistantDraftInput!) {
  saveAssistantDraft(assistantId: $id, input: $input) { ${DRAFT} } }`;
const PUBLISH = `mutation ($id: ID!, $note: String, $ifVersion: Int) {
  publishAssistantDraft(assistantId: $id, note: $note, ifVersion: $ifVersion) {
    name draft { basedOn } version { number note document } } }`;
const DISCARD = `mutation ($id: ID!) { discardAssistantDraft(assistantId: $id) { draft { basedOn } version { number } } }`;
const READ = `query ($id: ID!) { assistant(id: $id) { draft { ${DRAFT} } version { number document } } }`;
const DIFF = `query ($id: ID!, $from: Int!) { assistantDiff(assistantId: $id, from: $from) { kind path before after } }`;

const save = async (id: string, input: object) =>
  (await running.api.gql(SAVE, { id, input })).saveAssistantDraft;
const publish = async (id: string, more: object = {}) =>
  (await running.api.gql(PUBLISH, { id, ...more })).publishAssistantDraft;
const read = async (id: string) => (await running.api.gql(READ, { id })).assistant;
const patch = (id: string, part: string, body: object) =>
  running.api.patch(`/rest/v1/assistants/${id}${part}`, body, 200);
const chatOf = (id: string) => running.api.get(`/rest/v1/assistants/${id}/chat`, 200);

describe("a draft", () => {
  test("collects changes that nobody notices until they are published as one version", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    await save(id, { name: "Bea", chat: { prompt: "Be brief." } });
    const draft = await save(id, { chat: { temperature: 0 }, rag: { sms: { forceRag: true } } });
    expect(draft).toMatchObject({
      assistantId: id,
      basedOn: 1,
      document: {
        name: "Bea",
        chat: { prompt: "Be brief.", temperature: 0 },
        rag: { sms: { forceRag: true } },
      },
    });
    expect(await read(id)).toMatchObject({ draft, version: { number: 1, document: { name: "Ada" } } });
    expect((await chatOf(id)).prompt).not.toBe("Be brief.");

    expect(await publish(id, { note: "Shorter" })).toEqual({
      name: "Bea",
      draft: null,
      version: { number: 2, note: "Shorter", document: draft.document },
    });
    expect(await chatOf(id)).toMatchObject({ prompt: "Be brief.", temperature: 0 });
  });

  test("is seen and published by other keys and tokens of the organization, but not by a token of a user", async () => {
    const { api } = running;
    const id = await newAssistant(api, { name: "Ada" });
    const { document } = await save(id, { name: "Bea" });
    const { value } = await api.post("/rest/v1/organization/keys", { permissions: ["read", "write"] }, 200);
    const token = async (body: object) => {
      const made = await api.post("/rest/v1/organization/token", body, 200);
      return api.as({ Authorization: `Bearer ${made.token}` });
    };
    const key = api.as({ "X-API-Key": value });
    const other = await running.otherOrganization();
    for (const reader of [key, await token({})])
      expect((await reader.gql(READ, { id })).assistant.draft.document).toEqual(document);
    expect((await (await token({ userId: "ada" })).gqlError(READ, { id })).extensions.code).toBe("FORBIDDEN");
    expect((await other.api.gqlError(READ, { id })).extensions.code).toBe("ASSISTANT_NOT_FOUND");
    expect((await key.gql(PUBLISH, { id })).publishAssistantDraft.name).toBe("Bea");
  });

  test("is compared with a version by its differences", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    await save(id, { name: "Bea" });
    expect((await running.api.gql(DIFF, { id, from: 1 })).assistantDiff).toEqual([
      { kind: "REPLACE", path: "/name", before: "Ada", after: "Bea" },
    ]);
  });

  test("no longer has a file that was deleted since", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    const [kept, deleted] = [(await upload(running.api)).id, (await upload(running.api)).id];
    await save(id, { fileIds: [kept, deleted] });
    await running.api.delete(`/rest/v1/files/${deleted}`, 200);
    expect((await read(id)).draft.document.fileIds).toEqual([kept]);
    expect((await running.api.gql(DIFF, { id, from: 1 })).assistantDiff).toEqual([
      { kind: "ADD", path: "/fileIds/0", before: null, after: kept },
    ]);
    expect((await publish(id)).version.document.fileIds).toEqual([kept]);
  });

  test("keeps what others publish meanwhile, unless it changes the same field", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    await save(id, { name: "Mine", chat: { prompt: "mine" } });
    await patch(id, "/chat", { prompt: "theirs", temperature: 1.5 });
    await patch(id, "", { description: "theirs" });
    expect((await read(id)).draft).toMatchObject({
      basedOn: 1,
      document: { description: "theirs", chat: { prompt: "mine", temperature: 1.5 } },
    });
    const { version } = await publish(id);
    expect(version.number).toBe(4);
    expect(version.document).toMatchObject({
      name: "Mine",
      description: "theirs",
      chat: { prompt: "mine", temperature: 1.5 },
    });
  });

  test("is not published over a version that its publisher has not seen", async () => {
    const id = await newAssistant(running.api);
    await save(id, { name: "Mine" });
    await patch(id, "", { name: "Theirs" });
    const { status, body } = await running.api.graphql(PUBLISH, { id, ifVersion: 1 });
    expect([status, body.errors[0].extensions.code]).toEqual([200, "VERSION_CONFLICT"]);
    expect(body.errors[0].message).toBe(
      "The assistant is at version 2, not 1. Compare your change with version 2, then send it again with ifVersion: 2.",
    );
    expect((await read(id)).draft).not.toBe(null);
    expect((await publish(id, { ifVersion: 2 })).version.number).toBe(3);
  });

  test("is published by one of two publishers at once", async () => {
    const id = await newAssistant(running.api);
    await save(id, { name: "Once" });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => running.api.graphql(PUBLISH, { id, ifVersion: 1 })),
    );
    const codes = answers.map(({ body }) => body.errors?.[0].extensions.code ?? "published").toSorted();
    expect(codes.filter((code) => code === "published")).toHaveLength(1);
    expect(
      codes.filter((code) => !["published", "DRAFT_NOT_FOUND", "VERSION_CONFLICT"].includes(code)),
    ).toEqual([]);
    expect((await read(id)).version.number).toBe(2);
  });

  test("is shown to those who save it while others discard it", async () => {
    const id = await newAssistant(running.api);
    const names = Array.from({ length: 16 }, (_, index) => `Name ${index}`);
    const answers = await Promise.all(
      names.flatMap((name) => [save(id, { name }), running.api.gql(DISCARD, { id })]),
    );
    const shown = answers.flatMap(({ document }) => document?.name ?? []);
    expect(shown).toEqual(names);
  });

  test("names the variables that its document uses", async () => {
    const id = await newAssistant(running.api, { name: "A", variables: { who: "Ada", gone: null } });
    const USES = `query ($id: ID!) { assistant(id: $id) { draft { variables { name used hasValue } } } }`;
    await running.api.gql(SAVE, { id, input: { chat: { prompt: "{who} meets {gone} at {place}." } } });
    expect((await running.api.gql(USES, { id })).assistant.draft.variables).toEqual([
      { name: "gone", used: ["chat.prompt"], hasValue: false },
      { name: "place", used: ["chat.prompt"], hasValue: false },
      { name: "who", used: ["chat.prompt"], hasValue: true },
    ]);
  });

  test("can be discarded, also if there is none", async () => {
    const id = await newAssistant(running.api);
    await save(id, { name: "Never" });
    for (const _ of [1, 2])
      expect((await running.api.gql(DISCARD, { id })).discardAssistantDraft).toEqual({
        draft: null,
        version: { number: 1 },
      });
    expect((await running.api.gqlError(PUBLISH, { id })).extensions.code).toBe("DRAFT_NOT_FOUND");
    expect((await running.api.gqlError(DIFF, { id, from: 1 })).extensions.code).toBe("DRAFT_NOT_FOUND");
  });

  test("of the document of another version restores it", async () => {
    const text = fc.constantFrom("", "Hi {name}", "long ".repeat(500));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ prompt: text, initialMessage: text }), { minLength: 1, maxLength: 4 }),
        async (all) => {
          const id = await newAssistant(running.api, { name: "Ada", variables: { a: 1 } });
          const { document } = (await read(id)).version;
          for (const body of all) await patch(id, "/voice", body);
          expect((await save(id, document)).document).toEqual(document);
          expect((await publish(id)).version.document).toEqual(document);
        },
      ),
      { numRuns: 5 },
    );
  });
});

describe("secrets in a draft", () => {
  const book = (secretKey: unknown) => ({ name: "book", serverUrl: "https://api.example/book", secretKey });

  test("are sealed until they are published, and a stored one stays", async () => {
    const id = await newAssistant(running.api);
    await patch(id, "/chat", { functions: [book("live-secret")] });
    const { document } = await save(id, {
      chat: { functions: [{ ...book({ stored: true }), description: "Books." }] },
    });
    expect(document.chat.functions).toEqual([{ ...book({ stored: true }), description: "Books." }]);
    await publish(id);
    expect((await chatOf(id)).functions).toEqual([{ ...book("live-secret"), description: "Books." }]);

    const saved = await save(id, { chat: { functions: [book("draft-secret")] } });
    expect(JSON.stringify(saved)).not.toContain("draft-secret");
    const rows = await running.database.query("select * from assistant_drafts where assistant_id = $1", [id]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain("draft-secret");
    expect((await chatOf(id)).functions).toMatchObject([{ secretKey: "live-secret" }]);
    await publish(id);
    expect((await chatOf(id)).functions).toEqual([book("draft-secret")]);
  });
});

test("a draft that repeats the stored secret brings back none that was replaced before it is published", async () => {
  const id = await newAssistant(running.api);
  const book = (secretKey: string) => ({ name: "book", serverUrl: "https://api.example/book", secretKey });
  await patch(id, "/chat", { functions: [book("first")] });
  await save(id, { chat: { functions: [{ ...book("first"), description: "Books." }] } });
  await patch(id, "/chat", { functions: [book("second")] });
  await publish(id);
  expect((await chatOf(id)).functions).toEqual([{ ...book("second"), description: "Books." }]);
});

describe("the draft of a deleted assistant", () => {
  const IMPORT =
    "mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { draft { basedOn } } }";
  const CHAT = "query ($id: ID!) { chat(id: $id) { assistant { name draft { basedOn document } } } }";
  const remove = (id: string) => running.api.delete(`/rest/v1/assistants/${id}`, 200);
  const book = { name: "book", serverUrl: "https://api.example/book", secretKey: "draft-secret" };
  const drafted = async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    const chatId = await newChat(running.api, id);
    await save(id, { name: "Bea", chat: { functions: [book] } });
    return { id, chatId };
  };
  const storedOf = (id: string) =>
    running.database.query("select * from assistant_drafts where assistant_id = $1", [id]);

  test("is discarded, with its secrets", async () => {
    const { id, chatId } = await drafted();
    await remove(id);
    expect((await running.api.gql(CHAT, { id: chatId })).chat.assistant).toEqual({
      name: "Ada",
      draft: null,
    });
    expect(await storedOf(id)).toEqual([]);
  });

  test("is not shown, nor does it return with the assistant, if an earlier release has kept it", async () => {
    const { id, chatId } = await drafted();
    const [row] = await storedOf(id);
    await remove(id);
    await running.database.query(
      "insert into assistant_drafts select (json_populate_record(null::assistant_drafts, $1)).*",
      [JSON.stringify(row)],
    );
    expect((await running.api.gql(CHAT, { id: chatId })).chat.assistant.draft).toBe(null);
    const importer = await importerOf(running.api);
    const { importAssistant } = await importer.gql(IMPORT, { input: { id, name: "Ada" } });
    expect(importAssistant.draft).toBe(null);
    expect(await storedOf(id)).toEqual([]);
  });
});

describe("a change of several parts at once", () => {
  const CHANGE = `mutation ($id: ID!, $input: AssistantDraftInput!, $settings: AssistantSettingsInput, $note: String, $ifVersion: Int) {
    updateAssistantDocument(assistantId: $id, input: $input, settings: $settings, note: $note, ifVersion: $ifVersion) {
      name missingVariables updatedAt draft { basedOn } version { number note } files { id } } }`;
  const change = async (id: string, input: object, more: object = {}) =>
    (await running.api.gql(CHANGE, { id, input, ...more })).updateAssistantDocument;

  test("makes one version, with its files, and leaves the draft", async () => {
    const id = await newAssistant(running.api);
    const { id: fileId } = await upload(running.api);
    await save(id, { name: "Drafted" });
    const input = {
      name: "Bea",
      sms: { keywords: "hi" },
      rag: { chat: { forceRag: true } },
      fileIds: [fileId],
    };
    expect(await change(id, input, { note: "All at once" })).toMatchObject({
      name: "Bea",
      draft: { basedOn: 1 },
      version: { number: 2, note: "All at once" },
      files: [{ id: fileId }],
    });
    expect(await change(id, input)).toMatchObject({ version: { number: 2 } });
    expect((await read(id)).draft.document.name).toBe("Drafted");
  });

  test("changes nothing if the version is another one, or if one of the values is refused", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    const input = { name: "Bea", fileIds: [UNKNOWN_ID] };
    const code = async (more: object) =>
      (await running.api.gqlError(CHANGE, { id, input, ...more })).extensions.code;
    expect(await code({})).toBe("FILE_NOT_FOUND");
    expect(await code({ input: { name: "Bea" }, ifVersion: 7 })).toBe("VERSION_CONFLICT");
    expect((await read(id)).version).toMatchObject({ number: 1, document: { name: "Ada" } });
  });

  test("changes settings in the same step, which make no version", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    const { createProject: project } = await running.api.gql(
      'mutation { createProject(input: { name: "P" }) { id } }',
    );
    const ofProject = async () => {
      const query = "query ($id: ID!) { assistants(projectId: $id) { data { id } } }";
      return (await running.api.gql(query, { id: project.id })).assistants.data as object[];
    };
    const settings = { projectId: project.id, missingVariables: "REFUSE" };
    const refused = async (input: object, more: object) => {
      const error = await running.api.gqlError(CHANGE, { id, input, settings, ...more });
      return error.extensions.code;
    };
    expect(await refused({ fileIds: [UNKNOWN_ID] }, {})).toBe("FILE_NOT_FOUND");
    expect(await refused({}, { ifVersion: 7 })).toBe("VERSION_CONFLICT");
    expect(await refused({ name: "Bea" }, { settings: { projectId: UNKNOWN_ID } })).toBe("PROJECT_NOT_FOUND");
    expect(await ofProject()).toEqual([]);
    const before = await change(id, {});
    expect(before).toMatchObject({ name: "Ada", missingVariables: "KEEP", version: { number: 1 } });
    expect(await change(id, {}, { settings: {} })).toEqual(before);
    expect(await change(id, {}, { settings })).toMatchObject({
      missingVariables: "REFUSE",
      version: { number: 1 },
    });
    expect(await ofProject()).toEqual([{ id }]);
    expect(await change(id, { name: "Bea" }, { settings: { projectId: null } })).toMatchObject({
      ...{ name: "Bea", missingVariables: "REFUSE" },
      version: { number: 2 },
    });
    expect(await ofProject()).toEqual([]);
  });
});

describe("bad input of a draft", () => {
  test("names the field, and nothing is saved", async () => {
    const id = await newAssistant(running.api);
    const { id: fileId } = await upload(running.api, {
      content: new Uint8Array([0, 1, 2, 3, 255]),
      name: "a.bin",
      type: "application/octet-stream",
    });
    const refused = async (input: object) => (await running.api.gqlError(SAVE, { id, input })).message;
    expect(await refused({ name: "" })).toBe("input.name: must not be empty");
    expect(await refused({ chat: { temperature: 3 } })).toBe(
      "input.chat.temperature: must be from 0 to 2; got 3",
    );
    expect(await refused({ chat: null })).toBe("input.chat: must not be null");
    expect(await refused({ rag: { voice: { forceRag: null } } })).toBe(
      "input.rag.voice.forceRag: must not be null",
    );
    expect(await refused({ allowedOrigins: ["https://a.example", "x"] })).toMatch(
      /^input\.allowedOrigins\.1: must be an origin/,
    );
    expect(await refused({ fileIds: [UNKNOWN_ID] })).toBe(`No file with id "${UNKNOWN_ID}".`);
    expect(await refused({ fileIds: [fileId] })).toMatch(/^input\.fileIds\.0: is a file of type /);
    expect((await read(id)).draft).toBe(null);
  });

  test("a template has no draft", async () => {
    const { data } = await running.api.get("/rest/v1/assistants/templates", 200);
    const error = await running.api.gqlError(SAVE, { id: data[0].id, input: { name: "x" } });
    expect(error.extensions.code).toBe("TEMPLATE_READ_ONLY");
    expect((await read(data[0].id)).draft).toBe(null);
  });
});

describe("a value that is allowed but does not work", () => {
  const WARNINGS = "configurationWarnings { channel path code }";
  const graphql = async (query: string, variables: object) => {
    const { body } = await running.api.graphql(query, variables as Record<string, unknown>);
    expect(body.errors).toBeUndefined();
    return body as { data: Record<string, Record<string, unknown>>; extensions: { warnings?: string[] } };
  };
  const input = {
    chat: { prompt: "Hello {first name}", functions: [{ name: "f" }], model: "GPT_4_O", provider: "GROQ" },
    sms: { smsMode: true, resources: "x".repeat(16_001) },
    rag: { voice: { isRagEnabled: false } },
    theme: { theme: { primaryColour: "red" } },
    variables: { "first name": "Ada" },
  };
  /** The warnings of the same values in requests that publish them at once, with the places that a document has. */
  const published = async (id: string) => {
    const parts: [string, string, object][] = [
      ["chat", "Chat", input.chat],
      ["sms", "Sms", input.sms],
      ["theme", "Theme", input.theme],
    ];
    const [assistant, ...each] = await Promise.all([
      graphql(
        "mutation ($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }",
        {
          id,
          input: { variables: input.variables },
        },
      ),
      ...parts.map(([, type, input]) =>
        graphql(
          `mutation ($id: ID!, $input: Update${type}ConfigurationInput!) { update${type}Configuration(assistantId: $id, input: $input) { id } }`,
          { id, input },
        ),
      ),
    ]);
    return [
      ...(assistant.extensions.warnings ?? []),
      ...each.flatMap(({ extensions }, index) =>
        (extensions.warnings ?? []).map((text) => `${parts[index]![0]}.${text}`),
      ),
    ].sort();
  };

  test("is named by its field when it is saved, published, or part of a new assistant", async () => {
    const { id: file } = await upload(running.api);
    const create = (document: object) =>
      graphql(
        'mutation ($document: AssistantDraftInput!) { createAssistantFromDocument(input: { name: "A" }, document: $document) { id } }',
        { document },
      );
    const made = await create({ ...input, fileIds: [file] });
    const id = made.data.createAssistantFromDocument!.id as string;
    const saved = await graphql(
      `mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { ${WARNINGS} } }`,
      { id, input },
    );
    const changed = await graphql(PUBLISH, { id });
    const direct = await graphql(
      "mutation ($id: ID!, $input: AssistantDraftInput!) { updateAssistantDocument(assistantId: $id, input: $input) { id } }",
      { id, input },
    );
    const expected = await published(id);
    expect(expected).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^chat\.prompt: \{first name\} is not a variable/),
        expect.stringMatching(/^chat\.functions\.0: The function f cannot be called/),
        expect.stringMatching(/^chat\.provider: GPT_4_O is served by/),
        expect.stringMatching(/^sms\.resources: /),
        expect.stringMatching(/^theme\.theme\.primaryColour: /),
        expect.stringContaining('"first name"'),
      ]),
    );
    const rag = [
      expect.stringMatching(/^rag\.voice\.isRagEnabled: /),
      expect.stringMatching(/^rag\.sms\.isRagEnabled: /),
    ];
    for (const { extensions } of [made, saved, changed, direct]) {
      const warnings = extensions.warnings ?? [];
      expect(warnings.filter((text) => !text.startsWith("rag.")).sort()).toEqual(
        expected.filter((text) => !/^\w+\.isRagEnabled:/.test(text)),
      );
      expect(warnings).toEqual(expect.arrayContaining(rag));
    }
    const { configurationWarnings } = saved.data.saveAssistantDraft!;
    const stored = await running.api.gql(`query ($id: ID!) { assistant(id: $id) { ${WARNINGS} } }`, { id });
    expect(configurationWarnings).toEqual(stored.assistant.configurationWarnings);
    expect(configurationWarnings).not.toEqual([]);
  });

  test("is not named again when other values are saved", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    await save(id, input);
    const { extensions } = await graphql(SAVE, { id, input: { description: "New" } });
    expect(extensions.warnings).toBeUndefined();
  });
});

test("a new assistant with an empty document has the note at its version 1, without a warning", async () => {
  const query = `mutation { made: createAssistantFromDocument(input: { name: "Bea" }, document: {}, note: "First") {
    versions(first: 5) { nodes { number note } } } }`;
  const { body } = await running.api.graphql(query);
  expect(body.data.made.versions.nodes).toEqual([{ number: 1, note: "First" }]);
  expect(body.extensions?.warnings).toBeUndefined();
});

test("a new assistant has its document as its only version", async () => {
  const query = `mutation ($input: CreateAssistantInput!, $document: AssistantDraftInput!, $note: String) {
    createAssistantFromDocument(input: $input, document: $document, note: $note) {
      key name project { id } chat { prompt } voice { functions }
      versions(first: 5) { nodes { number note document } } } }`;
  const document = {
    description: "Brief",
    chat: { prompt: "Be brief." },
    voice: { functions: [{ name: "f", serverUrl: "https://example.com/f", secretKey: "hidden" }] },
    rag: { sms: { forceRag: true } },
    allowedOrigins: ["https://example.com"],
  };
  const create = async (input: object, document: object) =>
    running.api.graphql(query, { input, document, note: "Begun" });
  const { body } = await create({ name: "Ada", key: "whole" }, document);
  expect(body.data.createAssistantFromDocument).toMatchObject({
    key: "whole",
    name: "Ada",
    chat: { prompt: "Be brief." },
    voice: { functions: [{ secretKey: "hidden" }] },
    versions: {
      nodes: [
        {
          number: 1,
          note: "Begun",
          document: {
            ...document,
            voice: { functions: [{ name: "f", secretKey: { stored: true } }] },
          },
        },
      ],
    },
  });
  const again = await create({ name: "Ada", key: "whole" }, document);
  expect(again.body.errors[0].extensions).toMatchObject({
    code: "CONFLICT",
    details: [{ path: "input.key" }],
  });
  const wrong = await create({ name: "Lost" }, { fileIds: [UNKNOWN_ID] });
  expect(wrong.body.errors[0].extensions).toMatchObject({
    code: "FILE_NOT_FOUND",
    details: [{ path: "document.fileIds.0" }],
  });
  const { assistants } = await running.api.gql('{ assistants(search: "Lost") { data { id } } }');
  expect(assistants.data).toEqual([]);
});

test("a draft that asks for a secret which is not stored shows the document without it, and says so", async () => {
  const id = await newAssistant(running.api);
  const stored = { stored: true };
  const functions = [
    { name: "kept", serverUrl: "https://api.example/kept", secretKey: "hidden" },
    { name: "lost", serverUrl: "https://api.example/lost", secretKey: stored },
  ];
  const { body } = await running.api.graphql(SAVE, { id, input: { chat: { functions } } });
  expect(body.extensions.warnings).toEqual([
    'chat.functions: no secret is stored for the function "lost" and the origin of its URL, so it has none.',
  ]);
  const { draft } = await read(id);
  expect(draft.document.chat.functions).toEqual([
    { ...functions[0], secretKey: stored },
    { name: "lost", serverUrl: "https://api.example/lost" },
  ]);
  await publish(id);
  expect((await read(id)).version.document).toEqual(draft.document);
});
