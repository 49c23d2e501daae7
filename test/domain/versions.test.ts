import { describe, expect, test } from "@jest/globals";
import pg from "pg";
import type { Database } from "../../src/platform/database/database";
import { makeFirstVersions } from "../../src/assistants/history/first-versions";
import { useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { upload } from "../support/files";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });

interface Version {
  readonly number: number;
  readonly note: string | null;
  readonly actor: string;
  readonly document: Document;
}
type Document = Record<string, unknown> & Record<"voice" | "sms" | "chat", Record<string, unknown>>;
interface Change {
  readonly kind: "ADD" | "REMOVE" | "REPLACE";
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

const FIELDS = "number note actor document";
const VERSIONS = `query ($id: ID!) { assistant(id: $id) { versions(first: 100, orderBy: OLDEST_FIRST) {
  totalCount nodes { ${FIELDS} } } version { ${FIELDS} } } }`;
const DIFF = `query ($id: ID!, $from: Int!, $to: Int!) {
  assistantDiff(assistantId: $id, from: $from, to: $to) { kind path before after } }`;
const RESTORE = `mutation ($id: ID!, $number: Int!, $note: String) {
  restoreAssistantVersion(assistantId: $id, number: $number, note: $note) { id version { ${FIELDS} } } }`;
const VERSION = `query ($id: ID!, $number: Int!) { assistantVersion(assistantId: $id, number: $number) { id ${FIELDS} } }`;
const DESCRIBE = `mutation ($id: ID!, $number: Int!, $note: String!) {
  describeAssistantVersion(assistantId: $id, number: $number, note: $note) { number note } }`;

const versionsOf = async (id: string): Promise<Version[]> =>
  (await running.api.gql(VERSIONS, { id })).assistant.versions.nodes;
const currentOf = async (id: string): Promise<Version> =>
  (await running.api.gql(VERSIONS, { id })).assistant.version;
const restore = async (id: string, number: number, note?: string): Promise<Version> =>
  (await running.api.gql(RESTORE, { id, number, note })).restoreAssistantVersion.version;
const diff = async (id: string, from: number, to: number): Promise<Change[]> =>
  (await running.api.gql(DIFF, { id, from, to })).assistantDiff;
const patch = (id: string, part: string, body: object) =>
  running.api.patch(`/rest/v1/assistants/${id}${part}`, body, 200);

const LONG = "A long text about opening hours. ".repeat(80);

describe("the versions of an assistant", () => {
  test("a new assistant has version 1, made by the key that created it", async () => {
    const id = await newAssistant(running.api, { name: "Ada", variables: { name: "you" } });
    const [first, ...others] = await versionsOf(id);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      number: 1,
      note: null,
      document: { name: "Ada", variables: { name: "you" } },
    });
    expect(first!.actor).toMatch(/^key:/);
  });

  test("each change of a field makes one version, and a change to the same value makes none", async () => {
    const id = await newAssistant(running.api);
    await patch(id, "/chat", { prompt: "Be brief." });
    await patch(id, "/chat", { prompt: "Be brief." });
    await patch(id, "", { name: "Ada" });
    await patch(id, "", { name: "Bea" });
    await patch(id, "/theme", { theme: { title: "Shop" } });
    const versions = await versionsOf(id);
    expect(versions.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(versions[1]!.document.chat.prompt).toBe("Be brief.");
    expect(versions[2]!.document.name).toBe("Bea");
    expect(versions[1]!.document.name).toBe("Ada");
  });

  test("the order of keys in a function is a difference", async () => {
    const id = await newAssistant(running.api);
    await patch(id, "/chat", { functions: [{ name: "find", description: "" }] });
    await patch(id, "/chat", { functions: [{ description: "", name: "find" }] });
    expect(await versionsOf(id)).toHaveLength(3);
    expect(await diff(id, 2, 3)).toMatchObject([{ kind: "REPLACE", path: "/chat/functions/0" }]);
  });

  test("a function that is added, removed, moved or changed among others is the only difference", async () => {
    const id = await newAssistant(running.api);
    const named = (...names: string[]) => names.map((name) => ({ name, description: "" }));
    const [find, book, cancel] = named("find", "book", "cancel") as [object, object, object];
    const changed = { ...book, description: "Books a table." };
    for (const list of [
      [find, book, cancel],
      named("greet", "find", "book", "cancel"),
      named("find", "cancel"),
      named("cancel", "find"),
      [cancel, find, book],
      [find, changed, cancel],
      named("find", "reserve", "cancel"),
    ])
      await patch(id, "/chat", { functions: list });
    const changes = async (from: number, to = from + 1) =>
      (await diff(id, from, to)).map(({ kind, path }) => `${kind} ${path.replace("/chat/functions/", "")}`);
    expect(await changes(2)).toEqual(["ADD 0"]);
    expect(await changes(3, 2)).toEqual(["REMOVE 0"]);
    expect(await changes(2, 4)).toEqual(["REMOVE 1"]);
    expect((await changes(4)).sort()).toEqual([
      expect.stringMatching(/^ADD /),
      expect.stringMatching(/^REMOVE /),
    ]);
    expect(await changes(5)).toEqual(["ADD 2"]);
    expect(await changes(2, 7)).toEqual(["REPLACE 1/description"]);
    expect(await changes(2, 8)).toEqual(["REPLACE 1/name"]);
  });

  test("a nested function that is changed beside an inserted one is recognized by its name", async () => {
    const id = await newAssistant(running.api);
    const nested = (name: string, description: string) => ({
      type: "function",
      function: { name, description },
    });
    await patch(id, "/chat", { functions: [nested("find", ""), nested("book", "")] });
    await patch(id, "/chat", {
      functions: [nested("greet", ""), nested("find", "Finds."), nested("book", "")],
    });
    expect((await diff(id, 2, 3)).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      "ADD /chat/functions/0",
      "REPLACE /chat/functions/1/function/description",
    ]);
  });

  test("each of 70 versions has the document of its time", async () => {
    const id = await newAssistant(running.api);
    const documents = [(await currentOf(id)).document];
    for (let index = 0; index < 69; index++) {
      if (index % 3 === 0) await patch(id, "/chat", { prompt: `${LONG} ${index}`, resources: LONG });
      else if (index % 3 === 1)
        await patch(id, "/sms", { temperature: index / 100, functions: [{ name: `f${index}` }] });
      else await patch(id, "", { name: `Name ${index}`, description: index % 2 ? LONG : null });
      documents.push((await currentOf(id)).document);
    }
    const versions = await versionsOf(id);
    expect(versions.map(({ document }) => document)).toEqual(documents);
    expect(new Set(documents.map((document) => JSON.stringify(document))).size).toBe(70);
    const one = async (number: number) =>
      (await running.api.gql(VERSION, { id, number })).assistantVersion.document;
    for (const number of [1, 31, 32, 33, 64, 70]) expect(await one(number)).toEqual(documents[number - 1]);
  });

  test("a change writes its own size, not that of the document", async () => {
    const id = await newAssistant(running.api);
    await patch(id, "/chat", { prompt: LONG.slice(0, 900), resources: LONG.slice(0, 900) });
    await patch(id, "/chat", { temperature: 0.1 });
    const [row] = await running.database.query(
      "select length(content::text) as size from assistant_versions where assistant_id = $1 and number = 3",
      [id],
    );
    expect(row!.size).toBeLessThan(100);
  });

  test("a difference includes keys that JavaScript would move and numbers that it would round", async () => {
    const id = await newAssistant(running.api);
    const set = (item: string) =>
      running.api.request("PATCH", `/rest/v1/assistants/${id}/chat`, `{"functions":[${item}]}`, {
        "Content-Type": "application/json",
      });
    const items = [
      '{"name":"find","parameters":{"2":0,"1":0},"limit":12345678901234567890}',
      '{"name":"find","parameters":{"1":0,"2":0},"limit":12345678901234567890,"description":"Finds."}',
      '{"name":"find","parameters":{"1":0,"2":0},"limit":12345678901234567891,"description":"Finds all."}',
    ];
    for (const item of items) await set(item);
    for (const from of [2, 3]) {
      const { text } = await running.api.graphql(DIFF, { id, from, to: from + 1 });
      expect(text).toContain(
        `[{"kind":"REPLACE","path":"/chat/functions/0","before":${items[from - 2]},"after":${items[from - 1]}}]`,
      );
    }
  });

  test("keys that JavaScript would move and numbers that it would round are kept in functions", async () => {
    const id = await newAssistant(running.api);
    const text = '{"functions":[{"name":"find","10":1,"9":12345678901234567890}]}';
    const path = `/rest/v1/assistants/${id}/chat`;
    await running.api.request("PATCH", path, text, { "Content-Type": "application/json" });
    await patch(id, "/chat", { functions: [] });
    await restore(id, 2);
    const { text: version } = await running.api.graphql(VERSION, { id, number: 4 });
    expect(version).toContain('{"name":"find","10":1,"9":12345678901234567890}');
    const { text: shown } = await running.api.request("GET", path);
    expect(shown).toContain('{"name":"find","10":1,"9":12345678901234567890}');
  });
});

describe("secrets of functions", () => {
  const lookUp = (secretKey?: string, serverUrl = "https://api.example/look-up") => ({
    name: "look_up",
    serverUrl,
    ...(secretKey !== undefined && { secretKey }),
  });
  const setFunctions = (id: string, ...functions: object[]) => patch(id, "/chat", { functions });
  const functionsOf = async (id: string) =>
    (await running.api.get(`/rest/v1/assistants/${id}/chat`, 200)).functions;
  const STORED = { stored: true };

  test("stand in no version and no table of versions, nested ones included", async () => {
    const id = await newAssistant(running.api);
    const secret = "s3cret-of-the-function";
    const nested = {
      type: "function",
      function: { name: "b" },
      server: { url: "https://b.example", secret },
    };
    await setFunctions(id, lookUp(secret), nested, { secretKey: [secret] }, { server: { secret } });
    const { document } = await currentOf(id);
    expect(document.chat.functions).toMatchObject([
      { secretKey: STORED },
      { server: { secret: STORED } },
      {},
      { server: { secret: STORED } },
    ]);
    const kept = await running.database.query(
      "select content::text from assistant_versions union all select content::text from version_heads union all select content from version_texts",
    );
    expect(kept.length).toBeGreaterThan(2);
    expect(JSON.stringify(kept)).not.toContain(secret);
  });

  test("a new secret alone makes no version, and restoring keeps the new one", async () => {
    const id = await newAssistant(running.api);
    await setFunctions(id, lookUp("old"));
    await setFunctions(id, lookUp("new"));
    expect((await currentOf(id)).number).toBe(2);
    await setFunctions(id);
    await restore(id, 2);
    expect(await functionsOf(id)).toEqual([lookUp("new")]);
  });

  test("a secret is restored for the origin that it was given for, and for no other", async () => {
    const id = await newAssistant(running.api);
    await setFunctions(id, lookUp("first"));
    await setFunctions(id, lookUp("second", "https://other.example/look-up"));
    await restore(id, 2);
    expect(await functionsOf(id)).toEqual([lookUp("first")]);
    await restore(id, 3);
    expect(await functionsOf(id)).toEqual([lookUp("second", "https://other.example/look-up")]);
  });

  test("a function that lost its secret has none when an earlier version is restored, with a warning", async () => {
    const id = await newAssistant(running.api);
    await setFunctions(id, lookUp("leaked"));
    await setFunctions(id, lookUp());
    const { body } = await running.api.graphql(RESTORE, { id, number: 2 });
    expect(body.extensions.warnings).toEqual([
      'chat.functions: no secret is stored for the function "look_up" and the origin of its URL, so it has none.',
    ]);
    expect(await functionsOf(id)).toEqual([lookUp()]);
  });

  test("functions that are sent back while somebody replaces a secret keep the new one", async () => {
    const id = await newAssistant(running.api);
    await setFunctions(id, lookUp("old"));
    const other = new pg.Client({ connectionString: running.database.ownerUrl });
    await other.connect();
    try {
      await other.query("begin");
      await other.query(
        `update chat_configurations set functions = jsonb_set(functions::jsonb, '{0,secretKey}', '"new"')::json
         where assistant_id = $1`,
        [id],
      );
      const sent = setFunctions(id, { ...lookUp(), secretKey: STORED });
      await until(() => someoneWaits(running.database, "%chat_configurations%"));
      await other.query("commit");
      await sent;
    } finally {
      await other.end();
    }
    expect(await functionsOf(id)).toEqual([lookUp("new")]);
  });

  test("functions that replace each other at the same time keep their secrets for the versions that have them", async () => {
    const id = await newAssistant(running.api);
    await setFunctions(id);
    const names = ["a", "b", "c"];
    await Promise.all(names.map((name) => setFunctions(id, lookUp(name, `https://${name}.example/`))));
    await setFunctions(id);
    const restored: string[] = [];
    for (const number of [2, 3, 4]) {
      await restore(id, number);
      const [{ secretKey, serverUrl }] = await functionsOf(id);
      expect(serverUrl).toBe(`https://${secretKey}.example/`);
      restored.push(secretKey);
    }
    expect(restored.sort()).toEqual(names);
  });

  test("a function whose name is too long for an index of the database keeps its secret", async () => {
    const id = await newAssistant(running.api);
    const name = Array.from({ length: 9_000 }, (_, index) => (index * index).toString(36)).join("");
    const functions = [
      { ...lookUp("mine"), name },
      { ...lookUp("other"), name: `${name}!` },
    ];
    await setFunctions(id, ...functions);
    await setFunctions(id);
    await restore(id, 2);
    expect(await functionsOf(id)).toEqual(functions);
  });

  test("one that is no text has no effect and is left out, so that a restored version equals the document", async () => {
    const id = await newAssistant(running.api);
    const server = { url: "https://api.example/nested", secret: ["deep"] };
    await setFunctions(id, { ...lookUp(), secretKey: 12_345 }, { name: "nested", server });
    const { document } = await currentOf(id);
    expect(JSON.stringify(document.chat.functions)).not.toMatch(/secret|12345|deep/);
    await setFunctions(id);
    const { body } = await running.api.graphql(RESTORE, { id, number: 2 });
    expect(body.extensions.warnings ?? []).toEqual([]);
    expect((await currentOf(id)).document).toEqual(document);
  });

  test("a document can be sent back: stored secrets stay", async () => {
    const id = await newAssistant(running.api);
    await setFunctions(id, lookUp("mine"));
    await setFunctions(id, { ...lookUp(), secretKey: STORED, description: "Finds." });
    expect(await functionsOf(id)).toEqual([{ ...lookUp("mine"), description: "Finds." }]);
  });
});

describe("attached files", () => {
  const ATTACH = `mutation ($id: ID!, $fileId: ID!) { attachFile(assistantId: $id, fileId: $fileId) { id } }`;
  const DETACH = `mutation ($id: ID!, $fileId: ID!) { detachFile(assistantId: $id, fileId: $fileId) { id } }`;
  const filesOf = async (id: string) =>
    (await running.api.gql(`query ($id: ID!) { assistant(id: $id) { files { id } } }`, { id })).assistant
      .files;

  test("attaching and detaching make versions, and restoring one attaches its files again", async () => {
    const id = await newAssistant(running.api);
    const { id: fileId } = await upload(running.api);
    await running.api.gql(ATTACH, { id, fileId });
    await running.api.gql(ATTACH, { id, fileId });
    await running.api.gql(DETACH, { id, fileId });
    expect((await versionsOf(id)).map(({ document }) => document.fileIds)).toEqual([[], [fileId], []]);
    await restore(id, 2);
    expect(await filesOf(id)).toEqual([{ id: fileId }]);
    await restore(id, 3);
    expect(await filesOf(id)).toEqual([]);
  });

  test("deleting a file makes a version, and restoring an earlier one leaves it out with a warning", async () => {
    const id = await newAssistant(running.api);
    const { id: fileId } = await upload(running.api);
    await running.api.gql(ATTACH, { id, fileId });
    await running.api.delete(`/rest/v1/files/${fileId}`, 200);
    expect((await currentOf(id)).document.fileIds).toEqual([]);
    const { body } = await running.api.graphql(RESTORE, { id, number: 2 });
    expect(body.extensions.warnings).toEqual([
      "fileIds: 1 file of the version has been deleted since, and is left out.",
    ]);
    expect((await currentOf(id)).number).toBe(3);
  });
});

describe("who and when", () => {
  const token = async (userId?: string) => {
    const input = userId === undefined ? {} : { userId };
    const { token } = (
      await running.api.gql(`mutation ($input: IssueTokenInput!) { issueToken(input: $input) { token } }`, {
        input,
      })
    ).issueToken;
    return running.api.as({ Authorization: `Bearer ${token}` });
  };

  test("version 1 names the creator and the time of creation, before the first change and after it", async () => {
    const { id } = await (await token("carol")).post("/rest/v1/assistants", { name: "Of Carol" }, 200);
    const DETAILS = `query ($id: ID!) { assistant(id: $id) { createdAt versions(first: 2, orderBy: OLDEST_FIRST) {
      totalCount nodes { number actor createdAt note document } } } }`;
    const before = (await running.api.gql(DETAILS, { id })).assistant;
    expect(before.versions).toMatchObject({ totalCount: 1, nodes: [{ number: 1, actor: "user:carol" }] });
    await patch(id, "/sms", { prompt: "Of the key" });
    const after = (await running.api.gql(DETAILS, { id })).assistant;
    expect(after.versions.totalCount).toBe(2);
    expect(after.versions.nodes[0]).toEqual(before.versions.nodes[0]);
    const created = Date.parse(after.createdAt);
    expect(Math.abs(Date.parse(after.versions.nodes[0].createdAt) - created)).toBeLessThan(60_000);
  });

  test("the first changes of a new assistant make version 1 once, also if they come at the same time", async () => {
    const id = await newAssistant(running.api, { name: "First" });
    await Promise.all([
      patch(id, "/chat", { prompt: "a" }),
      patch(id, "/voice", { prompt: "b" }),
      patch(id, "", { name: "Second" }),
    ]);
    const versions = await versionsOf(id);
    expect(versions.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(versions[0]!.document).toMatchObject({
      name: "First",
      chat: { prompt: expect.not.stringMatching(/^a$/) },
    });
    expect(versions[3]!.document).toMatchObject({
      ...{ name: "Second", chat: { prompt: "a" }, voice: { prompt: "b" } },
    });
  });

  test("first changes of every kind do not deadlock", async () => {
    const save = `mutation ($id: ID!) { saveAssistantDraft(assistantId: $id, input: { name: "Draft" }) { basedOn } }`;
    const { id: fileId } = await upload(running.api, { content: "Hours." });
    const attach = `mutation ($id: ID!, $fileId: ID!) { attachFile(assistantId: $id, fileId: $fileId) { id } }`;
    for (let round = 0; round < 12; round++) {
      const id = await newAssistant(running.api);
      await Promise.all([
        patch(id, "/chat", { functions: [{ name: "a" }] }),
        running.api.gql(save, { id }),
        patch(id, "/voice", { functions: [{ name: "b" }], prompt: "c" }),
        running.api.gql(attach, { id, fileId }),
        patch(id, "", { name: "d" }),
      ]);
      expect((await currentOf(id)).number).toBe(5);
    }
  });

  test("a version names the key or the user of the token that made it", async () => {
    const id = await newAssistant(running.api);
    await (await token("alice")).patch(`/rest/v1/assistants/${id}`, { name: "Of Alice" }, 200);
    await (await token()).patch(`/rest/v1/assistants/${id}`, { name: "Of the key" }, 200);
    const [first, second, third] = await versionsOf(id);
    expect([second!.actor, third!.actor]).toEqual(["user:alice", first!.actor]);
  });

  test("a restored version or a published draft that changes nothing makes no version, and says that its note is lost", async () => {
    const id = await newAssistant(running.api);
    await patch(id, "", { name: "Bea" });
    const DRAFT = `mutation ($id: ID!) { saveAssistantDraft(assistantId: $id, input: { name: "Bea" }) { basedOn } }`;
    const PUBLISH = `mutation ($id: ID!) { publishAssistantDraft(assistantId: $id, note: "Again") { version { number note } } }`;
    const restored = await running.api.graphql(RESTORE, { id, number: 2, note: "Again" });
    await running.api.gql(DRAFT, { id });
    const published = await running.api.graphql(PUBLISH, { id });
    for (const { body } of [restored, published]) {
      const [changed] = Object.values(body.data) as { version: Version }[];
      expect(changed!.version).toMatchObject({ number: 2, note: null });
      expect(body.extensions.warnings).toEqual([
        "Nothing differs from the current version: no version was made, and no note stored.",
      ]);
    }
  });

  test("a restored version has a note, which can be changed and removed", async () => {
    const id = await newAssistant(running.api);
    await patch(id, "", { name: "Bea" });
    expect((await restore(id, 1)).note).toBe("Restored version 1");
    expect((await restore(id, 2, "Back to Bea")).note).toBe("Back to Bea");
    const describeIt = async (note: string) =>
      (await running.api.gql(DESCRIBE, { id, number: 4, note })).describeAssistantVersion.note;
    expect(await describeIt("Bea again")).toBe("Bea again");
    expect(await describeIt("")).toBe(null);
    const error = await running.api.gqlError(DESCRIBE, { id, number: 4, note: "x".repeat(1_001) });
    expect(error.message).toBe("note: must be at most 1000 characters long; got 1001");
  });

  test("changes at the same time make one version each, with what all of them changed", async () => {
    const id = await newAssistant(running.api);
    const changes = Array.from({ length: 8 }, (_, index) => [
      patch(id, "/chat", { prompt: `chat ${index}` }),
      patch(id, "/sms", { temperature: index / 10 }),
      patch(id, "", { description: `description ${index}` }),
    ]).flat();
    await Promise.all(changes);
    const versions = await versionsOf(id);
    expect(versions.map(({ number }) => number)).toEqual(versions.map((_, index) => index + 1));
    expect(versions.length).toBeGreaterThan(20);
    const live = await running.api.get(`/rest/v1/assistants/${id}`, 200);
    const { prompt } = await running.api.get(`/rest/v1/assistants/${id}/chat`, 200);
    const { temperature } = await running.api.get(`/rest/v1/assistants/${id}/sms`, 200);
    const { document } = versions.at(-1)!;
    expect([document.description, document.chat.prompt, document.sms.temperature]).toEqual([
      live.description,
      prompt,
      temperature,
    ]);
  });

  test("the answer of each change at the same time names the version that it made", async () => {
    const id = await newAssistant(running.api);
    const shown = "{ version { number document } }";
    const changes = [
      `updateAssistantDocument(assistantId: $id, input: { name: $name }) ${shown}`,
      `updateAssistant(id: $id, input: { name: $name }) ${shown}`,
    ].map((field) => `mutation ($id: ID!, $name: String!) { changed: ${field} }`);
    const names = Array.from({ length: 24 }, (_, index) => `Name ${index}`);
    const answers = await Promise.all(
      names.map((name, index) => running.api.gql(changes[index % 2]!, { id, name })),
    );
    const made = answers.map(({ changed: { version } }) => version);
    expect(made.map(({ document }) => document.name)).toEqual(names);
    expect(new Set(made.map(({ number }) => number)).size).toBe(names.length);
  });

  test("restores and changes at the same time lose nothing and do not deadlock", async () => {
    const id = await newAssistant(running.api);
    await patch(id, "/voice", { prompt: "two" });
    await Promise.all(
      Array.from({ length: 6 }, (_, index) => [
        restore(id, 1 + (index % 2)),
        patch(id, "/voice", { prompt: `p${index}` }),
        patch(id, "/theme", { mode: index % 2 ? "CHAT_ONLY" : "VOICE_ONLY" }),
      ]).flat(),
    );
    const { prompt } = await running.api.get(`/rest/v1/assistants/${id}/voice`, 200);
    expect((await currentOf(id)).document.voice.prompt).toBe(prompt);
  });
});

describe("a version that is not there", () => {
  test("a template is its own version 1 and cannot be restored", async () => {
    const { data } = await running.api.get("/rest/v1/assistants/templates", 200);
    const { id } = data[0];
    expect(await versionsOf(id)).toMatchObject([
      { number: 1, actor: "system", document: { name: data[0].name } },
    ]);
    expect((await running.api.gqlError(RESTORE, { id, number: 1 })).extensions.code).toBe(
      "TEMPLATE_READ_ONLY",
    );
  });

  test.each(["VERSION", "RESTORE", "DESCRIBE"])(
    "%s of an unknown number or assistant is not found",
    async (name) => {
      const document = { VERSION, RESTORE, DESCRIBE }[name]!;
      const id = await newAssistant(running.api);
      const code = async (variables: object) =>
        (await running.api.gqlError(document, { note: "n", ...variables })).extensions.code;
      expect(await code({ id, number: 2 })).toBe("VERSION_NOT_FOUND");
      expect(await code({ id: UNKNOWN_ID, number: 1 })).toBe("ASSISTANT_NOT_FOUND");
      expect(await code({ id, number: 0 })).toBe("BAD_USER_INPUT");
    },
  );

  describe("an assistant from before versions were kept", () => {
    const early = async () => {
      const id = await newAssistant(running.api, { name: "Early" });
      await running.database.query(
        "with gone as (delete from version_heads where assistant_id = $1) delete from assistant_versions where assistant_id = $1",
        [id],
      );
      return id;
    };
    const stored = (id: string) =>
      running.database.query("select number from assistant_versions where assistant_id = $1", [id]);
    const isDone = async () =>
      (
        await running.database.query(
          "select from online_steps where name = 'first_versions' and done_at is not null",
        )
      ).length > 0;
    /** As the job of a server that has just started: one that knows that it is done does not look again. */
    const run = () =>
      makeFirstVersions(
        Object.assign(Object.create(running.app.database) as Database, { done: new Set<string>() }),
      );

    test("is not looked for in a new database", async () => {
      expect(await isDone()).toBe(true);
      const id = await early();
      await run();
      expect(await stored(id)).toEqual([]);
    });

    test("shows itself as version 1, and its first change stores that", async () => {
      const id = await early();
      expect(await versionsOf(id)).toMatchObject([{ number: 1, document: { name: "Early" } }]);
      await patch(id, "", { name: "Late" });
      expect(await versionsOf(id)).toMatchObject([
        { number: 1, document: { name: "Early" } },
        { number: 2, document: { name: "Late" } },
      ]);
    });

    test("gets version 1 by a job, which leaves the others as they are and ends for good", async () => {
      const [id, changed] = [await early(), await early()];
      await patch(changed, "", { name: "Late" });
      const before = await versionsOf(id);
      await running.database.query("delete from online_steps where name = 'first_versions'");
      await run();
      expect(await stored(id)).toEqual([{ number: 1 }]);
      expect(await versionsOf(id)).toEqual(before);
      expect((await versionsOf(changed)).map(({ number }) => number)).toEqual([1, 2]);
      expect(await isDone()).toBe(true);
      const later = await early();
      await run();
      expect(await stored(later)).toEqual([]);
    });
  });
});
