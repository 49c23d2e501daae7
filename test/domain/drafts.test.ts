import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { upload } from "../support/files";

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

  test("is compared with a version by its differences", async () => {
    const id = await newAssistant(running.api, { name: "Ada" });
    await save(id, { name: "Bea" });
    expect((await running.api.gql(DIFF, { id, from: 1 })).assistantDiff).toEqual([
      { kind: "REPLACE", path: "/name", before: "Ada", after: "Bea" },
    ]);
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
      "The assistant is at version 2, not 1: somebody has changed it meanwhile. Compare the draft with version 2, then publish it with ifVersion: 2.",
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

describe("a change of several parts at once", () => {
  const CHANGE = `mutation ($id: ID!, $input: AssistantDraftInput!, $note: String, $ifVersion: Int) {
    updateAssistantDocument(assistantId: $id, input: $input, note: $note, ifVersion: $ifVersion) {
      name draft { basedOn } version { number note } files { id } } }`;
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
    expect(await change(id, input, { note: "All at once" })).toEqual({
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
