import { afterEach, expect, test } from "@jest/globals";
import pg from "pg";
import { useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { newAssistant } from "../support/factories";
import { upload } from "../support/files";
import { until } from "../support/until";

const running = useApp({ WORKER: "off" });
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const ATTACH = `mutation ($id: ID!, $fileId: ID!) { attachFile(assistantId: $id, fileId: $fileId) { id } }`;
const RESTORE = `mutation ($id: ID!) { restoreAssistantVersion(assistantId: $id, number: 2) { version { document } } }`;
const DELETE = `mutation ($fileId: ID!) { deleteFile(id: $fileId) { id } }`;
const STATE = `query ($id: ID!) { assistant(id: $id) { version { number document } files { id } } }`;

const stateOf = async (id: string) => (await running.api.gql(STATE, { id })).assistant;
const newFile = async () => (await upload(running.api, { content: "Parking is free." })).id;

/** Another transaction that has locked a file. @returns what ends it */
async function lockFile(fileId: string): Promise<() => Promise<unknown>> {
  const other = new pg.Client({ connectionString: running.database.ownerUrl });
  await other.connect();
  stops.push(() => other.end());
  await other.query("begin; set local deadlock_timeout = '1min'");
  await other.query("select from files where id = $1 for no key update", [fileId]);
  return () => other.query("commit");
}

/** Lets requests queue for a file, in this order. @returns their answers */
async function queued<A>(fileId: string, ...requests: (() => Promise<A>)[]): Promise<A[]> {
  const release = await lockFile(fileId);
  const answers: Promise<A>[] = [];
  for (const request of requests) {
    answers.push(request());
    await until(() => someoneWaits(running.database, "%", answers.length));
  }
  await release();
  return Promise.all(answers);
}

test("a file that an assistant gets while it is deleted leaves a version without it", async () => {
  const [id, fileId] = [await newAssistant(running.api), await newFile()];
  const [attached, deleted] = await queued(
    fileId,
    () => running.api.graphql(ATTACH, { id, fileId }),
    () => running.api.graphql(DELETE, { fileId }),
  );
  expect([attached!.body.errors, deleted!.body.errors]).toEqual([undefined, undefined]);
  const { version, files } = await stateOf(id);
  expect(files).toEqual([]);
  expect(version).toMatchObject({ number: 3, document: { fileIds: [] } });
});

test("a file that is deleted while an assistant gets it is not found", async () => {
  const [id, fileId] = [await newAssistant(running.api), await newFile()];
  const [deleted, attached] = await queued(
    fileId,
    () => running.api.graphql(DELETE, { fileId }),
    () => running.api.graphql(ATTACH, { id, fileId }),
  );
  expect(deleted!.body.errors).toBeUndefined();
  expect(attached!.body.errors).toMatchObject([{ extensions: { code: "FILE_NOT_FOUND" } }]);
});

test("a file that is deleted while a version with it is restored is left out, which is said", async () => {
  const [id, fileId] = [await newAssistant(running.api), await newFile()];
  await running.api.gql(ATTACH, { id, fileId });
  const detach = `mutation ($id: ID!, $fileId: ID!) { detachFile(assistantId: $id, fileId: $fileId) { id } }`;
  await running.api.gql(detach, { id, fileId });
  await running.api.patch(`/rest/v1/assistants/${id}/chat`, { prompt: "Later." }, 200);
  const [, restored] = await queued(
    fileId,
    () => running.api.graphql(DELETE, { fileId }),
    () => running.api.graphql(RESTORE, { id }),
  );
  expect(restored!.body.errors).toBeUndefined();
  expect(restored!.body.extensions.warnings).toEqual([
    "fileIds: 1 file of the version has been deleted since, and is left out.",
  ]);
  expect((await stateOf(id)).version.document).toMatchObject({ fileIds: [] });
});
