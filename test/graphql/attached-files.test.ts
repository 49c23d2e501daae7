import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { docx, pdf } from "../support/documents";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { png, storageOf, upload, type Part } from "../support/files";
import { runNow } from "../support/jobs";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });

const FILES = "files { id name detectedType size status problem passages attachedAt }";
const ATTACH = `mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id ${FILES} } }`;
const DETACH = `mutation ($assistantId: ID!, $fileId: ID!) { detachFile(assistantId: $assistantId, fileId: $fileId) { id ${FILES} } }`;

const attach = async (assistantId: string, fileId: string) =>
  (await running.api.gql(ATTACH, { assistantId, fileId })).attachFile;
const detach = async (assistantId: string, fileId: string) =>
  (await running.api.gql(DETACH, { assistantId, fileId })).detachFile;
const uploaded = async (part: Part): Promise<string> => (await upload(running.api, part)).id;
const files = async (id: string) =>
  (await running.api.gql(`query ($id: ID!) { assistant(id: $id) { ${FILES} } }`, { id })).assistant.files;
const passagesOf = (fileId: string) =>
  running.database.query<{ content: string }>(
    "select content from passages where file_id = $1 order by ordinal",
    [fileId],
  );

/** Waits until all files of an assistant have been read. @returns the files */
async function settled(assistantId: string) {
  return until(async () => {
    const found = await files(assistantId);
    return found.every(({ status }: { status: string }) => status !== "PENDING") && found;
  });
}

/** Asks the assistant, which answers without a model. */
async function ask(assistantId: string, content: string) {
  const { api } = running;
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  const { startChat } = await api.gql(start, { input: { assistantId } });
  const post =
    "mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content metadata } }";
  const input = { aiChatId: startChat.id, role: "USER", channel: "TEXT", content, metadata: {} };
  return (await api.gql(post, { input })).postMessage;
}

describe("a file attached to an assistant", () => {
  test.each<[string, () => Promise<Part>, string]>([
    ["text", () => Promise.resolve({ content: "Parking is free behind the house." }), "text/plain"],
    [
      "Markdown, declared as something else",
      () =>
        Promise.resolve({ name: "a.md", type: "image/png", content: "# Parking\n\nFree behind the house." }),
      "text/plain",
    ],
    [
      "HTML",
      () => Promise.resolve({ name: "a.html", content: "<html><h1>Parking</h1><p>Free." }),
      "text/html",
    ],
    [
      "PDF",
      () => Promise.resolve({ name: "a.pdf", content: new Uint8Array(pdf([["Parking is free."]])) }),
      "application/pdf",
    ],
    [
      "DOCX",
      async () => ({
        name: "a.docx",
        content: new Uint8Array(await docx([["Heading1", "Parking"], "Free."])),
      }),
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
  ])("is read by its actual content type and used for answers: %s", async (_what, part, type) => {
    const assistantId = await newAssistant(running.api);
    const file = await part();
    const fileId = await uploaded({ name: "parking.txt", ...file });
    const made = await attach(assistantId, fileId);
    expect(made).toMatchObject({
      id: assistantId,
      files: [{ id: fileId, detectedType: type, problem: null }],
    });
    expect(await settled(assistantId)).toMatchObject([{ id: fileId, status: "READY", passages: 1 }]);
    const { content, metadata } = await ask(assistantId, "Where can I find parking?");
    expect(content).toMatch(/free/i);
    expect(metadata.citations).toEqual([
      {
        source: file.name ?? "parking.txt",
        fileId,
        text: content,
        ...(type === "application/pdf" && { page: 1 }),
      },
    ]);
  });

  test("supplements the assistant's resources, and the better match is used", async () => {
    const assistantId = await newAssistant(running.api);
    await running.api.patch(
      `/rest/v1/assistants/${assistantId}/chat`,
      { resources: "We are open until six." },
      200,
    );
    await attach(assistantId, await uploaded({ content: "Parking is free behind the house." }));
    await settled(assistantId);
    expect((await ask(assistantId, "Is there parking?")).metadata.citations[0].source).toBe("a.txt");
    expect((await ask(assistantId, "When are you open?")).metadata.citations[0].source).toBe("resources");
  });

  test("is attached once, even by concurrent requests", async () => {
    const assistantId = await newAssistant(running.api);
    const fileId = await uploaded({ content: "Once." });
    await Promise.all([1, 2, 3, 4].map(() => attach(assistantId, fileId)));
    expect(await settled(assistantId)).toHaveLength(1);
    expect(await attach(assistantId, fileId)).toMatchObject({ files: [{ status: "READY", passages: 1 }] });
    expect(await passagesOf(fileId)).toHaveLength(1);
  });

  test("is read once for all its assistants, and its index is deleted with the last assistant that has or had it", async () => {
    const [one, two] = [await newAssistant(running.api), await newAssistant(running.api)];
    const fileId = await uploaded({ content: "Parking is free." });
    await attach(one, fileId);
    await settled(one);
    expect((await attach(two, fileId)).files).toMatchObject([{ status: "READY", passages: 1 }]);
    expect(await passagesOf(fileId)).toHaveLength(1);
    expect((await detach(one, fileId)).files).toEqual([]);
    expect((await detach(one, fileId)).files).toEqual([]);
    expect((await ask(one, "Parking?")).content).toContain("I don't know");
    expect((await ask(two, "Parking?")).content).toBe("Parking is free.");
    await running.api.delete(`/rest/v1/assistants/${two}`, 200);
    expect(await passagesOf(fileId)).toHaveLength(1);
    await running.api.delete(`/rest/v1/assistants/${one}`, 200);
    expect(await passagesOf(fileId)).toEqual([]);
  });

  test("is detached from every assistant when it is deleted", async () => {
    const assistantId = await newAssistant(running.api);
    const fileId = await uploaded({ content: "Parking is free." });
    await attach(assistantId, fileId);
    await settled(assistantId);
    await running.api.delete(`/rest/v1/files/${fileId}`, 200);
    expect(await files(assistantId)).toEqual([]);
    expect(await passagesOf(fileId)).toEqual([]);
  });

  test("is not copied with the assistant", async () => {
    const assistantId = await newAssistant(running.api);
    await attach(assistantId, await uploaded({}));
    const copy = await running.api.post(`/rest/v1/assistants/duplicate/${assistantId}`, undefined, 200);
    expect(await files(copy.id)).toEqual([]);
  });

  test("reports why it cannot be read, and is retried when it is attached again", async () => {
    const assistantId = await newAssistant(running.api);
    const fileId = await uploaded({ name: "a.pdf", content: "%PDF-1.7 nothing" });
    await attach(assistantId, fileId);
    const failed = { status: "FAILED", problem: expect.stringContaining("PDF is broken"), passages: 0 };
    expect(await settled(assistantId)).toMatchObject([failed]);
    expect((await attach(assistantId, fileId)).files).toMatchObject([{ status: "PENDING", problem: null }]);
    expect(await settled(assistantId)).toMatchObject([failed]);
  });

  test("is retried if its content cannot be fetched, and then reports it", async () => {
    const assistantId = await newAssistant(running.api);
    const fileId = await uploaded({});
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    await storageOf(running).remove(`${organizationId}/${fileId}`);
    await attach(assistantId, fileId);
    await until(async () => {
      await runNow(running.database, "attempts > 0"); // without the pauses
      return (await files(assistantId))[0].status !== "PENDING";
    });
    expect(await settled(assistantId)).toMatchObject([
      { status: "FAILED", problem: expect.stringContaining("Attach it again") },
    ]);
  });
});

describe("a file cannot be attached", () => {
  test.each<[string, Part, RegExp]>([
    [
      "an image",
      { content: png, type: "text/plain" },
      /image\/png.*only text or Markdown, HTML, PDF and DOCX/,
    ],
    [
      "binary data",
      { content: Uint8Array.from([1, 0, 2]), type: "application/pdf" },
      /application\/octet-stream/,
    ],
  ])("if it is %s, whatever its declared type", async (_what, part, message) => {
    const [assistantId, fileId] = [await newAssistant(running.api), await uploaded(part)];
    const { extensions } = await running.api.gqlError(ATTACH, { assistantId, fileId });
    expect(extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [{ path: "fileId", message: expect.stringMatching(message) }],
    });
    expect(await files(assistantId)).toEqual([]);
  });

  test("to a template or an unknown assistant, or if the file is unknown", async () => {
    const { data } = await running.api.get("/rest/v1/assistants/templates", 200);
    const [assistantId, fileId] = [await newAssistant(running.api), await uploaded({})];
    const code = async (ids: Record<string, string>) =>
      (await running.api.gqlError(ATTACH, ids)).extensions.code;
    expect(await code({ assistantId: data[0].id, fileId })).toBe("TEMPLATE_READ_ONLY");
    expect(await code({ assistantId: UNKNOWN_ID, fileId })).toBe("ASSISTANT_NOT_FOUND");
    expect(await code({ assistantId, fileId: UNKNOWN_ID })).toBe("FILE_NOT_FOUND");
    const other = await running.otherOrganization();
    const { id: theirs } = await upload(other.api);
    expect(await code({ assistantId, fileId: theirs })).toBe("FILE_NOT_FOUND");
    expect((await running.api.gqlError(DETACH, { assistantId, fileId: UNKNOWN_ID })).extensions.code).toBe(
      "FILE_NOT_FOUND",
    );
  });

  test("as the hundred-and-first", async () => {
    const assistantId = await newAssistant(running.api);
    const [first, second] = [await uploaded({}), await uploaded({})];
    const { database } = running;
    await database.query(
      `insert into files (organization_id, id, name, mime_type, detected_type, size)
       select organization_id, id || n, name, mime_type, detected_type, size from files
       cross join generate_series(1, 99) n where id = $1`,
      [first],
    );
    await database.query(
      `insert into assistant_files (organization_id, assistant_id, file_id, status)
       select organization_id, $2::text, id, 'READY' from files where id like $1 || '_%'`,
      [first, assistantId],
    );
    expect((await attach(assistantId, first)).files).toHaveLength(100);
    const { extensions } = await running.api.gqlError(ATTACH, { assistantId, fileId: second });
    expect(extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [{ path: "fileId", message: expect.stringContaining("100") }],
    });
    expect((await attach(assistantId, first)).files).toHaveLength(100);
  });
});
