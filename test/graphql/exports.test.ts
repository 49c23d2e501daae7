import { Readable } from "node:stream";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { sweepFiles } from "../../src/assistants/files/janitor";
import { Quotas } from "../../src/account/organization/quotas";
import { useApp } from "../support/app";
import { expectError } from "../support/errors";
import { forget } from "../support/erasures";
import { archiveOf, exported, exportLink, exportOf, exportPerson, rowsIn } from "../support/exports";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { storageOf, storedKeys, upload } from "../support/files";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });
let assistantId: string;
beforeAll(async () => {
  assistantId = await quietAssistant(running.api);
});

let people = 0;
const newName = () => `person-${++people}-of-exports`;
const stored = () => storedKeys(running);
const chatWith = async (person: object, words: string): Promise<string> => {
  const id = await newChat(running.api, assistantId, person);
  await say(running.api, id, words);
  return id;
};

/** Columns of a conversation in an archive, without internal ones. */
const COLUMNS =
  `id assistantId channel status label firstWords phoneNumber userId uniqueId variables metadata recordingUrl messageCount startedAt lastMessageAt endedAt endedReason errors notes userName anonymousId externalId workflowId deploymentId workflowNodeId ending visitorId identityProven setVariables assistantVersion runsDraft speakerVersions`.split(
    " ",
  );

describe("the person to export", () => {
  const people: [string, object][] = [
    ["no identifier", {}],
    ["two identifiers", { uniqueId: "a", userId: "b" }],
    ["an empty text", { phoneNumber: "" }],
  ];
  test.each(people)("cannot be identified by %s", async (_, person) => {
    const document = `mutation ($uniqueId: String, $userId: String, $phoneNumber: String) {
      exportEndUser(uniqueId: $uniqueId, userId: $userId, phoneNumber: $phoneNumber) { id } }`;
    const error = await running.api.gqlError(document, { ...person });
    expect(error.extensions.code).toBe("BAD_USER_INPUT");
    expect(error.message).toContain("exactly one of uniqueId, userId, anonymousId, phoneNumber");
  });

  test("gets their conversations in order, and nobody else's", async () => {
    const [uniqueId, other] = [newName(), newName()];
    const own = [await chatWith({ uniqueId }, "First words"), await chatWith({ uniqueId }, "Second words")];
    await chatWith({ uniqueId: other }, "Words of another person");
    await endChat(running.api, own[0]!);
    const state = await exportPerson(running, { uniqueId });
    expect(state).toMatchObject({
      subject: "UNIQUE_ID",
      status: "DONE",
      problem: null,
      chats: 2,
      messages: 2,
      files: 0,
      absent: 0,
    });
    const files = await archiveOf(running, state.id);
    expect(rowsIn(files["chats.ndjson"]).map(({ id }) => id)).toEqual(own);
    for (const row of rowsIn(files["chats.ndjson"]))
      expect(Object.keys(row).sort()).toEqual([...COLUMNS].sort());
    expect(rowsIn(files["messages.ndjson"])).toMatchObject([
      { chatId: own[0], role: "ASSISTANT", content: "First words" },
      { chatId: own[1], role: "ASSISTANT", content: "Second words" },
    ]);
    expect(rowsIn(files["events.ndjson"])).toHaveLength(state.events);
    expect(JSON.parse(files["manifest.json"]!)).toMatchObject({
      identifier: uniqueId,
      counts: { chats: 2, messages: 2 },
    });
    expect(Object.values(files).join()).not.toContain("another person");
  });

  test("gets the versions of assistants that they made, and nobody else's", async () => {
    const [userId, other] = [newName(), newName()];
    const issue = "mutation ($userId: String!) { issueToken(input: { userId: $userId }) { token } }";
    const as = async (userId: string) => {
      const { token } = (await running.api.gql(issue, { userId })).issueToken;
      return running.api.as({ Authorization: `Bearer ${token}` });
    };
    const id = await quietAssistant(running.api);
    const [own, foreign] = [await as(userId), await as(other)];
    for (let number = 0; number < 25; number++)
      await own.patch(`/rest/v1/assistants/${id}`, { name: `Name ${number}` }, 200);
    await foreign.patch(`/rest/v1/assistants/${id}`, { name: "Another" }, 200);
    const files = await archiveOf(running, (await exportPerson(running, { userId })).id);
    const rows = rowsIn(files["versions.ndjson"]);
    expect(rows).toHaveLength(25);
    const [first] = rows;
    expect(first).toEqual({
      assistantId: id,
      number: first!.number,
      userId,
      note: null,
      createdAt: expect.any(String),
    });
    expect(rows.map(({ number }) => Number(number) - Number(first!.number))).toEqual(
      rows.map((_, index) => index),
    );
  });

  test("gets an archive without rows if nothing is stored", async () => {
    const state = await exportPerson(running, { phoneNumber: "+41790000000" });
    expect(state).toMatchObject({ status: "DONE", chats: 0, messages: 0, events: 0 });
    const files = await archiveOf(running, state.id);
    expect(files).toMatchObject({ "chats.ndjson": "", "people.ndjson": "", "files.ndjson": "" });
  });

  test("gets the files that name them byte for byte, and a note about one whose content is lost", async () => {
    const uniqueId = newName();
    const chatId = await chatWith({ uniqueId }, "Here they are");
    const [kept, lost] = [
      await upload(running.api, { content: "Grüezi 📎", name: "café.txt", metadata: { chatId } }),
      await upload(running.api, { content: "gone", metadata: { uniqueId } }),
    ];
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    await storageOf(running).remove(`${organizationId}/${lost.id}`);
    const state = await exportPerson(running, { uniqueId });
    expect(state).toMatchObject({ files: 1, absent: 1 });
    const files = await archiveOf(running, state.id);
    expect(files[`files/${kept.id}/café.txt`]).toBe("Grüezi 📎");
    expect(rowsIn(files["files.ndjson"])).toMatchObject([
      { id: kept.id, path: `files/${kept.id}/café.txt`, metadata: { chatId } },
      { id: lost.id, problem: expect.stringContaining("missing") },
    ]);
  });

  test("gets long conversations with large messages completely", async () => {
    const uniqueId = newName();
    const id = await newChat(running.api, assistantId, { uniqueId });
    const words = Array.from({ length: 45 }, (_, at) => `${at} ${"long ".repeat(20_000)}`);
    for (const one of words) await say(running.api, id, one);
    const files = await archiveOf(running, (await exportPerson(running, { uniqueId })).id);
    expect(rowsIn(files["messages.ndjson"]).map(({ content }) => content)).toEqual(words);
  });
});

describe("the archive", () => {
  test("is not one of the organization's files but counts against its quota, and is downloaded by its link only", async () => {
    const { id } = await exportPerson(running, { userId: newName() });
    const { data } = await running.api.get("/rest/v1/files?take=100", 200);
    expect(data.map((file: { id: string }) => file.id)).not.toContain(id);
    const { url, expiresAt } = await exportLink(running, id);
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 3_601_000);
    const { pathname, search } = new URL(url);
    const answer = await running.api.as({}).request("GET", pathname + search);
    expect(answer.headers.get("content-type")).toBe("application/zip");
    expect(answer.headers.get("content-disposition")).toContain("attachment");
    expect(answer.headers.get("cache-control")).toBe("private, no-store");
    expectError(await running.api.as({}).request("GET", pathname), 403, "FORBIDDEN");
    expectError(await running.api.as({}).request("GET", `${pathname}${search}x`), 403, "FORBIDDEN");
    // A signed link to a file does not work for an archive.
    const asFile = pathname.replace("/exports/", "/files/") + search;
    expectError(await running.api.as({}).request("GET", asFile), 403, "FORBIDDEN");
  });

  test("is not available before it is finished, or to another organization", async () => {
    const LINK = "query ($id: ID!) { endUserExportDownload(id: $id) { url } }";
    const { id } = await exportPerson(running, { userId: newName() });
    const other = await running.otherOrganization();
    for (const document of [LINK, "query ($id: ID!) { endUserExport(id: $id) { id } }"]) {
      const error = await other.api.gqlError(document, { id });
      expect(error.extensions.code).toBe("EXPORT_NOT_FOUND");
    }
    await running.database.query("update end_user_exports set status = 'RUNNING' where id = $1", [id]);
    expect(await running.api.gql(LINK, { id })).toEqual({ endUserExportDownload: null });
  });

  test("is removed after a day, and its links stop working", async () => {
    const before = await stored();
    const { id, finishedAt, expiresAt } = await exportPerson(running, { userId: newName() });
    expect(Date.parse(expiresAt as string) - Date.parse(finishedAt as string)).toBe(86_400_000);
    expect(await stored()).toHaveLength(before.length + 1);
    const { pathname, search } = new URL((await exportLink(running, id)).url);
    const past = "update end_user_exports set expires_at = now() - interval '1 second' where id = $1";
    await running.database.query(past, [id]);
    expect(await exportOf(running, id)).toMatchObject({ status: "EXPIRED" });
    expectError(await running.api.as({}).request("GET", pathname + search), 404, "EXPORT_NOT_FOUND");
    await running.database.query("select graphile_worker.add_job('export.expire')");
    await until(async () => (await stored()).length === before.length);
    expect((await stored()).sort()).toEqual(before.sort());
    expect(await exportOf(running, id)).toMatchObject({ status: "EXPIRED" });
  });

  test("is not removed with the orphaned files in storage", async () => {
    const { id } = await exportPerson(running, { userId: newName() });
    const storage = storageOf(running);
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    await storage.put(`${organizationId}/left-by-a-crash`, Readable.from(["PK"]));
    await sweepFiles(running.app.database, storage, Date.now() + 86_400_000);
    expect((await stored()).join()).not.toContain("left-by-a-crash");
    expect(await archiveOf(running, id)).toHaveProperty(["manifest.json"]);
  });
});

describe("exports and erasures", () => {
  const persons: [string, object, Record<string, string>, Record<string, string>][] = [
    ["the same identifier", { uniqueId: "same" }, { uniqueId: "same" }, { uniqueId: "same" }],
    [
      "another identifier of a conversation in it",
      { uniqueId: "both", userId: "both-user" },
      { uniqueId: "both" },
      { userId: "both-user" },
    ],
  ];
  test.each(persons)(
    "an archive is removed when the person is erased by %s",
    async (_, ids, asked, erased) => {
      await chatWith(ids, "Words to erase");
      const before = await stored();
      const { id } = await exportPerson(running, asked);
      const { pathname, search } = new URL((await exportLink(running, id)).url);
      expect(await forget(running, erased)).toMatchObject({ chats: 1, exports: 1 });
      expect(await exportOf(running, id)).toMatchObject({ status: "WITHDRAWN" });
      expectError(await running.api.as({}).request("GET", pathname + search), 404, "EXPORT_NOT_FOUND");
      await until(async () => (await stored()).length === before.length);
    },
  );

  test("an archive is removed when a log in it is deleted, but not when another one is", async () => {
    const [uniqueId, other] = [newName(), newName()];
    const [own, theirs] = [
      await chatWith({ uniqueId }, "Mine"),
      await chatWith({ uniqueId: other }, "Theirs"),
    ];
    for (const id of [own, theirs]) await endChat(running.api, id);
    const { id } = await exportPerson(running, { uniqueId });
    const REMOVE =
      "mutation ($assistantId: ID!, $id: ID!) { deleteLog(assistantId: $assistantId, id: $id) { id } }";
    await running.api.gql(REMOVE, { assistantId, id: theirs });
    expect(await exportOf(running, id)).toMatchObject({ status: "DONE" });
    await running.api.gql(REMOVE, { assistantId, id: own });
    expect(await exportOf(running, id)).toMatchObject({ status: "WITHDRAWN" });
  });

  test("an export that runs while the person is erased ends without an archive", async () => {
    const uniqueId = newName();
    await chatWith({ uniqueId }, "Words to erase");
    const before = await stored();
    const { database } = running;
    const { id } = await exportPerson(running, { uniqueId });
    // State after a crash: the export has started, but no job runs.
    const begun = `update end_user_exports set status = 'RUNNING', archive_id = null where id = $1`;
    await database.query(begun, [id]);
    await forget(running, { uniqueId });
    expect(await exportOf(running, id)).toMatchObject({ status: "WITHDRAWN" });
    const { id: organizationId } = await running.api.get("/rest/v1/organization", 200);
    await database.query(
      "select graphile_worker.add_job('export.run', json_build_object('organizationId', $1::text, 'exportId', $2::text))",
      [organizationId, id],
    );
    const waiting = "select from graphile_worker.jobs where task_identifier = 'export.run'";
    await until(async () => (await database.query(waiting)).length === 0);
    expect(await exportOf(running, id)).toMatchObject({ status: "WITHDRAWN" });
    expect((await stored()).length).toBeLessThanOrEqual(before.length + 1); // includes the file above, which the sweep removes
  });
});

describe("the records of exports", () => {
  test("are listed newest first and name nobody", async () => {
    const names = [newName(), newName()];
    const ids: string[] = [];
    for (const userId of names) ids.unshift((await exportPerson(running, { userId })).id);
    const { nodes } = (await running.api.gql("{ endUserExports(first: 2) { nodes { id status } } }"))
      .endUserExports;
    expect(nodes).toEqual(ids.map((id) => ({ id, status: "DONE" })));
    const rows = JSON.stringify(await running.database.query("select * from end_user_exports"));
    for (const name of names) expect(rows).not.toContain(name);
  });

  test("are in the audit log, with the requester and each disclosure", async () => {
    const userId = newName();
    const { id } = await exportPerson(running, { userId });
    await exportLink(running, id);
    const AUDIT = `query ($operation: String!) { auditEvents(first: 1, filter: { operation: $operation }) {
      nodes { kind recordType recordId fields { name digest } } } }`;
    const last = async (operation: string) =>
      (await running.api.gql(AUDIT, { operation })).auditEvents.nodes[0];
    expect(await last("exportEndUser")).toMatchObject({
      kind: "CHANGE",
      recordType: "EndUser",
      fields: [{ name: "userId", digest: expect.any(String) }],
    });
    expect(await last("endUserExportDownload")).toMatchObject({
      kind: "DISCLOSURE",
      recordType: "EndUserExport",
      recordId: id,
    });
  });
});

test("an export that exceeds the organization's storage quota fails with the reason", async () => {
  const other = await running.otherOrganization();
  const { id: organizationId } = await other.api.get("/rest/v1/organization", 200);
  const scope = running.app.database.scope(organizationId as string);
  const { id } = await exportPerson(other, { userId: newName() });
  const { quotas } = scope.ports;
  const before = quotas.storedBytes;
  // Enough space for the request's own rows, but for no archive.
  const stored = (await scope.of(Quotas).storedBytes()) + 300;
  await running.database.query(
    "update end_user_exports set status = 'RUNNING', archive_id = null, sealed_target = $2 where id = $1",
    [
      id,
      scope.ports.crypto.seal('{"kind":"userId","value":"x"}', `${organizationId}/end_user_exports/${id}`),
    ],
  );
  Object.assign(quotas, { storedBytes: stored });
  try {
    await scope.enqueue("export.run", { exportId: id });
    expect(await exported(other, id as string)).toMatchObject({
      status: "FAILED",
      problem: expect.stringContaining("QUOTA_STORED_BYTES"),
    });
  } finally {
    Object.assign(quotas, { storedBytes: before });
  }
});
