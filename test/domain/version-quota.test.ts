import { beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { removeOldVersions } from "../../src/assistants/versions/remove-old-versions";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat } from "../support/factories";
import { upload } from "../support/files";
import { newFlow } from "../support/flows";
import { importerOf } from "../support/importers";

const QUOTA = 3;
/** The tests run the job themselves. */
const running = useApp({ WORKER: "off", QUOTA_VERSIONS: String(QUOTA) });
let api: Api;
let organizationId: string;
beforeEach(async () => {
  ({ api, organizationId } = await running.otherOrganization());
});

const VERSIONS = `query ($id: ID!) { assistant(id: $id) { version { number } versions(first: 100, orderBy: OLDEST_FIRST) {
  totalCount nodes { number document } } } }`;
const VERSION = `query ($id: ID!, $number: Int!) { assistantVersion(assistantId: $id, number: $number) { document } }`;
const DIFF = `query ($id: ID!, $from: Int!) { assistantDiff(assistantId: $id, from: $from, to: 9) { path } }`;
const RESTORE = `mutation ($id: ID!, $number: Int!) { restoreAssistantVersion(assistantId: $id, number: $number) { version { number } } }`;
const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id version { number } } }";
const SAVE = `mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { basedOn } }`;
const DEPLOY = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
const IMPORT = "mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { id } }";
const IMPORT_VERSIONS = `mutation ($id: ID!, $versions: [ImportAssistantVersionInput!]!) { importAssistantVersions(assistantId: $id, versions: $versions) { imported existing } }`;
const IMPORT_DEPLOYMENT = `mutation ($input: ImportDeploymentInput!) { importDeployment(input: $input) { assistantVersion } }`;
const FILE = (name: string) =>
  `mutation ($id: ID!, $fileId: ID!) { ${name}(assistantId: $id, fileId: $fileId) { id } }`;
const LONG = "A long prompt. ".repeat(100);

const kept = async (id: string): Promise<number[]> =>
  (await api.gql(VERSIONS, { id })).assistant.versions.nodes.map(({ number }: { number: number }) => number);
const patch = (id: string, part: string, body: object) =>
  api.patch(`/rest/v1/assistants/${id}${part}`, body, 200);
const remove = () => removeOldVersions(running.app.database);
/** Makes everything old enough to be removed. */
const age = async () => {
  const { database } = running;
  const versions = await database.query<{ id: string; number: number; created_at: Date }>(
    "select assistant_id as id, number, created_at from assistant_versions where organization_id = $1",
    [organizationId],
  );
  for (const { id, number, created_at } of versions)
    await database.query(
      "update assistant_versions set created_at = $4 where organization_id = $1 and assistant_id = $2 and number = $3",
      [organizationId, id, number, new Date(created_at.getTime() - 7_200_000)],
    );
};
/** Makes the last use of the keys this long ago. */
const idle = (time: string) =>
  running.database.query(
    `update api_keys set last_used_at = now() - $2::interval where organization_id = $1`,
    [organizationId, time],
  );
const count = async (table: string, id: string): Promise<number> =>
  (await running.database.query(`select from ${table} where assistant_id = $1`, [id])).length;

/** An assistant with versions 1 to `last`, each with a long prompt of its own. */
async function withVersions(last: number): Promise<string> {
  const id = await newAssistant(api);
  for (let number = 2; number <= last; number++) await patch(id, "/chat", { prompt: `${number} ${LONG}` });
  return id;
}

describe("versions beyond the quota", () => {
  test("are removed, the oldest first, with the long texts that no other version has", async () => {
    const [id, other] = [await withVersions(9), await withVersions(2)];
    await age();
    await remove();
    expect(await kept(id)).toEqual([9]);
    expect(await kept(other)).toEqual([1, 2]);
    expect(await count("version_texts", id)).toBe(1);
    const { assistant } = await api.gql(VERSIONS, { id });
    expect(assistant.versions).toMatchObject({
      totalCount: 1,
      nodes: [{ document: { chat: { prompt: `9 ${LONG}` } } }],
    });
    for (const [document, variables] of [
      [VERSION, { id, number: 8 }],
      [VERSION, { id, number: 1 }],
      [DIFF, { id, from: 8 }],
      [RESTORE, { id, number: 8 }],
    ] as const)
      expect((await api.gqlError(document, variables)).extensions.code).toBe("VERSION_NOT_FOUND");
    const refused = await api.gqlError(START, { input: { assistantId: id, assistantVersion: 8 } });
    expect(refused.extensions.code).toBe("BAD_USER_INPUT");
    await patch(id, "/chat", { prompt: "Ten." });
    expect(await kept(id)).toEqual([9, 10]);
  });

  test("leave the others their whole documents, though a version stores only what its change set", async () => {
    const id = await newAssistant(api, { name: "Ada" });
    await patch(id, "/voice", { prompt: `Voice ${LONG}` });
    await patch(id, "/sms", { temperature: 0.1 });
    await patch(id, "/chat", { prompt: "Short." });
    await api.gql(DEPLOY, { input: { type: "API", assistantId: id, assistantVersion: 3 } });
    for (let number = 5; number <= 40; number++) await patch(id, "", { description: `Version ${number}` });
    await api.gql(DEPLOY, { input: { type: "API", assistantId: id, assistantVersion: 38 } });
    const documents = async (): Promise<Map<number, unknown>> =>
      new Map(
        (await api.gql(VERSIONS, { id })).assistant.versions.nodes.map(
          ({ number, document }: { number: number; document: unknown }) => [number, document],
        ),
      );
    const before = await documents();
    await age();
    await remove();
    const left = await documents();
    expect([...left.keys()]).toEqual([3, 38, 40]);
    for (const [number, document] of left) expect(document).toEqual(before.get(number));
  });

  test("stay for an hour after the next one, for conversations that are about to begin", async () => {
    const id = await withVersions(6);
    await remove();
    expect(await kept(id)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("stay while a chat, a workflow, a deployment or a draft needs them", async () => {
    const id = await withVersions(2);
    await api.gql(SAVE, { id, input: { name: "Draft" } });
    await patch(id, "/chat", { prompt: `3 ${LONG}` });
    const chatId = await newChat(api, id);
    for (const number of [4, 5, 6, 7, 8]) await patch(id, "/chat", { prompt: `${number} ${LONG}` });
    const input = { type: "API", assistantId: id, assistantVersion: 5 };
    const { createDeployment } = await api.gql(DEPLOY, { input });
    await api.gql(START, { input: { assistantId: id, assistantVersion: 6 } });
    const flow = await newFlow(
      api,
      { start: { type: "START" }, one: { type: "PROMPT", assistantId: id }, end: { type: "END" } },
      [
        ["start", "one"],
        ["one", "end", { kind: "MODEL", description: "Is done." }],
      ],
    );
    const { startChat } = await api.gql(START, { input: { workflowId: flow.workflowId } });
    await patch(id, "/chat", { prompt: `9 ${LONG}` });
    await age();
    await remove();
    expect(await kept(id)).toEqual([2, 3, 5, 6, 8, 9]);

    for (const one of [chatId, startChat.id]) await endChat(api, one);
    await api.gql("mutation ($id: ID!) { deleteDeployment(id: $id) { id } }", { id: createDeployment.id });
    await api.gql("mutation ($id: ID!) { discardAssistantDraft(assistantId: $id) { id } }", { id });
    await remove();
    expect(await kept(id)).toEqual([6, 8, 9]);
    await patch(id, "", { name: "Bea" });
    await age();
    await remove();
    expect(await kept(id)).toEqual([6, 9, 10]);
    const { chat, log } = await api.gql(
      "query ($chatId: ID!, $id: ID!) { chat(id: $chatId) { version { number } } log(assistantId: $id, id: $chatId) { version { number } } }",
      { chatId, id },
    );
    expect([chat.version, log.version]).toEqual([null, null]);
  });

  test("stay while an import is under way, which names them last, and for a day after it", async () => {
    const importer = await importerOf(api);
    const made = { actor: "operator", createdAt: "2025-01-01T00:00:00.000Z" };
    const id = "moved";
    await importer.gql(IMPORT, { input: { id, name: "Moved", version: { ...made, number: 9 } } });
    const versions = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => ({ ...made, number, document: {} }));
    await importer.gql(IMPORT_VERSIONS, { id, versions: versions.slice(0, 5) });
    await idle("2 days");
    // An import that goes on finds some of the versions.
    const { importAssistantVersions } = await importer.gql(IMPORT_VERSIONS, { id, versions });
    expect(importAssistantVersions).toEqual({ imported: 3, existing: [1, 2, 3, 4, 5] });
    await remove();
    const input = { id: "pinned", type: "API", enabled: true, assistantId: id, assistantVersion: 2 };
    const { importDeployment } = await importer.gql(IMPORT_DEPLOYMENT, { input });
    expect(importDeployment).toEqual({ assistantVersion: 2 });
    await idle("23 hours");
    await remove();
    expect(await kept(id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await idle("25 hours");
    await remove();
    expect(await kept(id)).toEqual([2, 8, 9]);
  });

  test("lose the secrets of functions and the files that only they had", async () => {
    const id = await newAssistant(api);
    const other = await newAssistant(api);
    const functions = [{ name: "book", serverUrl: "https://a.example/book", secretKey: "s3cret" }];
    const { id: fileId } = await upload(api, { content: "Parking is free." });
    await patch(id, "/chat", { functions });
    await api.gql(FILE("attachFile"), { id, fileId });
    await api.gql(FILE("detachFile"), { id, fileId });
    await patch(id, "/chat", { functions: [] });
    expect(await count("function_secrets", id)).toBe(1);
    expect(await count("version_files", id)).toBe(1);
    for (const name of ["One", "Two", "Three"]) await patch(other, "", { name });
    await age();
    await remove();
    expect(await kept(id)).toEqual([5]);
    expect(await count("function_secrets", id)).toBe(0);
    expect(await count("version_files", id)).toBe(0);
  });

  test("are never taken from a conversation, whatever runs at the same time", async () => {
    const step = fc.constantFrom("publish", "start", "startFormer", "deploy", "restore", "remove");
    let removals = 0;
    const steps = fc.array(step, { minLength: 8, maxLength: 16 });
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(1_000), async (chosen, seed) => {
        const id = await withVersions(6);
        await age();
        const chats: { id: string; version: { number: number } }[] = [];
        const refused: string[] = [];
        const run = async (one: (typeof chosen)[number], index: number): Promise<void> => {
          const number = 1 + ((seed + index) % 6);
          if (one === "publish") await patch(id, "/chat", { prompt: `${index} of ${seed}` });
          else if (one === "remove") await remove();
          else {
            const [document, variables] = {
              start: [START, { input: { assistantId: id } }] as const,
              startFormer: [START, { input: { assistantId: id, assistantVersion: number } }] as const,
              deploy: [
                DEPLOY,
                { input: { type: "API", assistantId: id, assistantVersion: number } },
              ] as const,
              restore: [RESTORE, { id, number }] as const,
            }[one];
            const { data, errors } = (await api.graphql(document, variables)).body;
            if (errors) refused.push(errors[0].extensions.code);
            else if (data.startChat) chats.push(data.startChat);
          }
        };
        await Promise.all(chosen.map(run));
        await remove();
        const left = await kept(id);
        if (!left.includes(1)) removals++;
        expect(refused.filter((code) => !["BAD_USER_INPUT", "VERSION_NOT_FOUND"].includes(code))).toEqual([]);
        for (const { version } of chats) expect(left).toContain(version.number);
        const pinned = await running.database.query<{ number: number }>(
          "select assistant_version as number from deployments where assistant_id = $1",
          [id],
        );
        for (const { number } of pinned) expect(left).toContain(number);
        const { assistant } = await api.gql(VERSIONS, { id });
        expect(left).toContain(assistant.version.number);
        for (const { document } of assistant.versions.nodes)
          expect(typeof document.chat.prompt).toBe("string");
      }),
      { numRuns: 8 },
    );
    expect(removals).toBeGreaterThan(0);
  });
});
