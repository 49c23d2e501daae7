import { beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { upload } from "../support/files";
import { importerOf } from "../support/importers";

const running = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });
let importer: Api;
beforeAll(async () => {
  importer = await importerOf(running.api);
});

const AT = "2022-01-01T00:00:00.000Z";
const ASSISTANT =
  "mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { id key version { number } } }";
const VERSIONS = `mutation ($assistantId: ID!, $versions: [ImportAssistantVersionInput!]!) {
  importAssistantVersions(assistantId: $assistantId, versions: $versions) { imported existing } }`;
const HISTORY = `query ($id: ID!) { assistant(id: $id) { versions(first: 100, orderBy: OLDEST_FIRST) {
  nodes { number note actor createdAt document } } } }`;

interface Version {
  readonly number: number;
  readonly note: string | null;
  readonly actor: string;
  readonly createdAt: string;
  readonly document: Record<string, unknown> & { readonly rag: Record<string, object> } & {
    readonly chat: { readonly functions: object[] };
  };
}

const importAssistant = async (input: object) => (await importer.gql(ASSISTANT, { input })).importAssistant;
const importVersions = async (assistantId: string, versions: readonly object[]) =>
  (await importer.gql(VERSIONS, { assistantId, versions })).importAssistantVersions;
const historyOf = async (id: string): Promise<Version[]> =>
  (await importer.gql(HISTORY, { id })).assistant.versions.nodes;

/** An assistant with a version for each text, as its history shows it. */
async function assistantWith(...prompts: string[]): Promise<{ id: string; history: Version[] }> {
  const id = await newAssistant(running.api, { name: "Source" });
  for (const prompt of prompts) await running.api.patch(`/rest/v1/assistants/${id}/chat`, { prompt }, 200);
  return { id, history: await historyOf(id) };
}

/** Imports a history as a copy of its assistant. */
async function importHistory(id: string, history: readonly Version[]): Promise<void> {
  const { document, ...version } = history.at(-1)!;
  const { rag, ...parts } = document;
  const rags = { voiceRag: rag.voice, smsRag: rag.sms, chatRag: rag.chat };
  await importAssistant({ id, ...parts, ...rags, version });
  await importVersions(id, history.slice(0, -1));
}

describe("imported versions", () => {
  test("keep their numbers, notes, times, actors and documents", async () => {
    const { history } = await assistantWith("one", "two ".repeat(1_000), "three");
    const kept = history.map((version, index) => ({
      ...{ ...version, note: index === 1 ? null : `Note ${index}`, createdAt: AT },
      actor: ["user:ada", "key:42", "operator", "system"][index % 4]!,
    }));
    await importHistory("kept", kept);
    expect(await historyOf("kept")).toEqual(kept);
    await importHistory("kept", kept);
    expect(await historyOf("kept")).toEqual(kept);
  });

  test("have the functions exactly as they were sent", async () => {
    const text = '{"name":"find","10":1,"9":12345678901234567890}';
    const { history } = await assistantWith("one", "two");
    const send = (query: string, variables: object) => {
      const body = JSON.stringify({ query, variables }).replaceAll('"EXACT"', text);
      return importer.request("POST", "/graphql", body, { "Content-Type": "application/json" });
    };
    const [first, second] = history;
    const chat = { functions: ["EXACT"] };
    const input = { id: "exact", name: "Exact", chat, version: { ...second, document: undefined } };
    await send(ASSISTANT, { input });
    await send(VERSIONS, { assistantId: "exact", versions: [{ ...first, document: { chat } }] });
    const shown = (await importer.graphql(HISTORY, { id: "exact" })).text;
    expect(shown.split(`"functions":[${text}]`)).toHaveLength(3);
  });

  test("are the same in whatever batches and however often they come", async () => {
    const { history } = await assistantWith("a", "b", "c", "d");
    const earlier = history.slice(0, -1);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.subarray(earlier), { maxLength: 4 }), async (batches) => {
        const id = `batches/${runs++}`;
        await importHistory(id, [history.at(-1)!]);
        for (const batch of [...batches, earlier]) {
          const { imported, existing } = await importVersions(id, batch);
          expect(imported + existing.length).toBe(batch.length);
        }
        expect(await historyOf(id)).toEqual(history);
      }),
      { numRuns: 10 },
    );
  });

  test("are restored, without a secret that their functions name", async () => {
    const functions = [{ name: "find", serverUrl: "https://example.com/f", secretKey: "leaked" }];
    await importAssistant({
      id: "restored",
      name: "Now",
      version: { number: 2, actor: "system", createdAt: AT },
    });
    const document = { name: "Before", chat: { prompt: "Old.", functions } };
    await importVersions("restored", [{ number: 1, actor: "system", createdAt: AT, document }]);
    const [first] = await historyOf("restored");
    expect(first!.document.chat.functions).toEqual([{ ...functions[0], secretKey: { stored: true } }]);
    const { restoreAssistantVersion: restored } = await importer.gql(
      'mutation { restoreAssistantVersion(assistantId: "restored", number: 1) { name version { number } chat { prompt functions } } }',
    );
    expect(restored).toEqual({
      ...{ name: "Before", version: { number: 3 } },
      chat: { prompt: "Old.", functions: [{ name: "find", serverUrl: "https://example.com/f" }] },
    });
    expect(JSON.stringify(await historyOf("restored"))).not.toContain("leaked");
  });

  test("never replace those that were made here", async () => {
    const { history } = await assistantWith("a", "b");
    await importHistory("changed here", history.slice(0, 2));
    await running.api.patch("/rest/v1/assistants/changed%20here/chat", { prompt: "mine" }, 200);
    const mine = await historyOf("changed here");
    await importHistory("changed here", history);
    const now = await historyOf("changed here");
    expect(now.slice(0, 3)).toEqual(mine);
    expect(now[3]).toMatchObject({ number: 4, note: "Imported", document: history[2]!.document });
  });

  test.each([
    ["a number after the current version", { number: 9 }, "versions.0.number"],
    ["an actor of no known form", { number: 1, actor: "Ada!" }, "versions.0.actor"],
    [
      "an unknown model",
      { number: 1, document: { chat: { model: "none" } } },
      "versions.0.document.chat.model",
    ],
  ])("are refused with %s", async (_, fields, path) => {
    await importAssistant({
      id: "refusing",
      name: "A",
      version: { number: 2, actor: "system", createdAt: AT },
    });
    const version = { actor: "system", createdAt: AT, document: { name: "A" }, ...fields };
    const { extensions } = await importer.gqlError(VERSIONS, {
      assistantId: "refusing",
      versions: [version],
    });
    expect(extensions.code).toBe("BAD_USER_INPUT");
    expect(extensions.details.map((one: { path: string }) => one.path)).toEqual([path]);
  });

  test("of an unknown assistant are refused", async () => {
    const error = await importer.gqlError(VERSIONS, { assistantId: UNKNOWN_ID, versions: [] });
    expect(error.extensions.code).toBe("ASSISTANT_NOT_FOUND");
  });
});

describe("an imported assistant", () => {
  test("has its key, origins and files, all in one version", async () => {
    const { id: fileId } = await upload(running.api, { content: "known" });
    const parts = { key: "with-files", allowedOrigins: ["https://example.com"], fileIds: [fileId] };
    const input = { id: "whole", name: "A", ...parts, chat: { prompt: "One." }, voice: { prompt: "Two." } };
    expect(await importAssistant(input)).toEqual({ id: "whole", key: "with-files", version: { number: 1 } });
    const again = await importAssistant({ ...input, chat: { prompt: "1." }, voice: { prompt: "2." } });
    expect(again.version.number).toBe(2);
    const [, last] = await historyOf("whole");
    expect(last!.document).toMatchObject({ ...{ allowedOrigins: parts.allowedOrigins, fileIds: [fileId] } });
    const taken = await importer.gqlError(ASSISTANT, {
      input: { id: "other", name: "B", key: "with-files" },
    });
    expect(taken.extensions.code).toBe("CONFLICT");
    const unknown = { id: "other", name: "B", fileIds: [UNKNOWN_ID] };
    expect((await importer.gqlError(ASSISTANT, { input: unknown })).extensions).toMatchObject({
      ...{ code: "FILE_NOT_FOUND", details: [{ path: "input.fileIds.0" }] },
    });
  });
});

test("an imported draft takes the place of the one here, and is published as it is", async () => {
  await importAssistant({ id: "drafted", name: "A" });
  const save = 'mutation { saveAssistantDraft(assistantId: "drafted", input: { name: "Mine" }) { basedOn } }';
  await importer.gql(save);
  const DRAFT = `mutation ($input: ImportAssistantDraftInput!) {
    importAssistantDraft(assistantId: "drafted", input: $input) { basedOn updatedAt document } }`;
  const input = { basedOn: 1, updatedAt: AT, chat: { prompt: "Drafted." } };
  const { importAssistantDraft: draft } = await importer.gql(DRAFT, { input });
  expect(draft).toMatchObject({
    ...{ basedOn: 1, updatedAt: AT, document: { name: "A", chat: input.chat } },
  });
  const publish = 'mutation { publishAssistantDraft(assistantId: "drafted") { chat { prompt } } }';
  expect((await importer.gql(publish)).publishAssistantDraft.chat.prompt).toBe("Drafted.");
});

describe("imported facts about a person", () => {
  const FACTS = `mutation ($uniqueId: String!, $facts: [ImportEndUserFactInput!]!) {
    importEndUserFacts(uniqueId: $uniqueId, facts: $facts) { imported omitted } }`;
  const importFacts = async (uniqueId: string, facts: readonly object[]) =>
    (await importer.gql(FACTS, { uniqueId, facts })).importEndUserFacts;
  const factsOf = async (uniqueId: string) =>
    (
      await importer.gql(
        "query ($id: String!) { endUser(uniqueId: $id) { facts { assistantId text signed createdAt } } }",
        { id: uniqueId },
      )
    ).endUser.facts;
  const fact = (assistantId: string, minute: number, signed = true, text = `Fact ${minute}.`) => ({
    ...{ assistantId, text, signed },
    createdAt: `2022-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`,
  });

  test("are stored by their times, beside those that are known, and not twice", async () => {
    const [one, other] = [await newAssistant(running.api), await newAssistant(running.api)];
    const [early, middle, late] = [1, 2, 3].map((minute) => fact(one, minute));
    expect(await importFacts("ada", [late!, early!])).toEqual({ imported: 2, omitted: 0 });
    const others = [fact(one, 4, false, "Fact 1."), fact(other, 0)];
    const all = [...others, early!, middle!, late!];
    expect(await importFacts("ada", all)).toEqual({ imported: 3, omitted: 2 });
    const stored = await factsOf("ada");
    expect(stored).toEqual([others[1], early, middle, late, others[0]]);
    expect(await importFacts("ada", all)).toEqual({ imported: 0, omitted: 5 });
    expect(await factsOf("ada")).toEqual(stored);
  });

  test("are the 50 newest of each kind", async () => {
    const id = await newAssistant(running.api);
    const signed = Array.from({ length: 55 }, (_, minute) => fact(id, minute));
    expect(await importFacts("bob", [fact(id, 59, false), ...signed])).toEqual({ imported: 51, omitted: 5 });
    expect((await factsOf("bob")).map(({ text }: { text: string }) => text)).toEqual([
      ...signed.slice(5).map(({ text }) => text),
      "Fact 59.",
    ]);
  });

  test("of an unknown assistant are refused, with all others of the request", async () => {
    const id = await newAssistant(running.api);
    const facts = [fact(id, 1), fact(UNKNOWN_ID, 2)];
    const error = await importer.gqlError(FACTS, { uniqueId: "eve", facts });
    expect(error.extensions.code).toBe("ASSISTANT_NOT_FOUND");
    expect((await importer.gql('{ endUser(uniqueId: "eve") { id } }')).endUser).toBeNull();
  });
});

describe("an imported workflow", () => {
  const WORKFLOW = `mutation ($input: ImportWorkflowInput!) { importWorkflow(input: $input) {
    id key name createdAt updatedAt project { id } nodes { id type name assistant { id } metadata } edges { id fromNodeId toNodeId kind rank } } }`;
  const importWorkflow = async (input: object) => (await importer.gql(WORKFLOW, { input })).importWorkflow;
  const graph = {
    nodes: [
      { id: "n/1", type: "START", name: "Start", createdAt: AT },
      { id: "n/2", type: "PROMPT", name: "Ask", metadata: { x: 1 } },
      { id: "n/3", type: "END", name: "End" },
    ],
    edges: [
      { id: "e/1", fromNodeId: "n/1", toNodeId: "n/2" },
      { id: "e/2", fromNodeId: "n/2", toNodeId: "n/3", kind: "MODEL", description: "done", rank: 2 },
    ],
  };

  const taken = { id: "n/taken", type: "END", name: "End" };
  beforeAll(async () => {
    await importWorkflow({ id: "w/other", name: "Other", nodes: [taken], edges: [] });
  });

  test("keeps the ids of its nodes and edges, and becomes equal to its source", async () => {
    await importer.gql('mutation { importProject(input: { id: "p/1", name: "Shop" }) { id } }');
    const assistantId = await newAssistant(running.api);
    const nodes = graph.nodes.map((node) => (node.type === "PROMPT" ? { ...node, assistantId } : node));
    const input = {
      id: "w/1",
      name: "Intake",
      key: "intake",
      projectId: "p/1",
      createdAt: AT,
      ...graph,
      nodes,
    };
    const first = await importWorkflow(input);
    expect(first).toMatchObject({ id: "w/1", key: "intake", createdAt: AT, project: { id: "p/1" } });
    expect(first.nodes.map((node: { id: string }) => node.id).sort()).toEqual(["n/1", "n/2", "n/3"]);
    expect(first.edges.map((edge: { id: string }) => edge.id)).toEqual(["e/1", "e/2"]);
    expect(await importWorkflow(input)).toEqual(first);
    const shorter = await importWorkflow({
      ...input,
      nodes: [{ ...graph.nodes[0]!, name: "Begin" }, graph.nodes[2]],
      edges: [{ id: "e/3", fromNodeId: "n/1", toNodeId: "n/3" }],
    });
    expect(shorter.nodes.map((node: { name: string }) => node.name).sort()).toEqual(["Begin", "End"]);
    expect(shorter.edges).toMatchObject([{ id: "e/3" }]);
  });

  test.each<[string, object, string]>([
    ["two nodes with one id", { nodes: [graph.nodes[0], graph.nodes[0]], edges: [] }, "input.nodes.1.id"],
    [
      "an edge to no node",
      { nodes: graph.nodes.slice(0, 1), edges: graph.edges.slice(0, 1) },
      "input.edges.0.toNodeId",
    ],
    ["a node of another workflow", { nodes: [taken], edges: [] }, "input.nodes.0.id"],
    [
      "an incomplete edge",
      { ...graph, edges: [{ ...graph.edges[1], description: null }] },
      "input.edges.0.description",
    ],
  ])("with %s is refused, and changes nothing", async (_, parts, path) => {
    const input = JSON.parse(
      JSON.stringify({ id: "w/bad", name: "Bad", ...parts }).replace(/"([ne])\/(\d)/g, '"bad/$1$2'),
    );
    const { extensions } = await importer.gqlError(WORKFLOW, { input });
    expect(extensions.details).toMatchObject([{ path }]);
    expect((await importer.gqlError('{ workflow(id: "w/bad") { id } }')).extensions.code).toBe(
      "WORKFLOW_NOT_FOUND",
    );
  });

  test("has deployments with their ids", async () => {
    await importWorkflow({ id: "w/2", name: "Deployed", nodes: [], edges: [] });
    const input = { id: "d/1", type: "API", workflowId: "w/2", enabled: false, key: "api", createdAt: AT };
    const DEPLOYMENT = `mutation ($input: ImportDeploymentInput!) {
      importDeployment(input: $input) { id key enabled createdAt updatedAt workflow { id } } }`;
    const { importDeployment: first } = await importer.gql(DEPLOYMENT, { input });
    expect(first).toEqual({
      ...{ id: "d/1", key: "api", enabled: false, createdAt: AT, updatedAt: AT, workflow: { id: "w/2" } },
    });
    expect((await importer.gql(DEPLOYMENT, { input })).importDeployment).toEqual(first);
    const changed = await importer.gql(DEPLOYMENT, { input: { ...input, enabled: true } });
    expect(changed.importDeployment.enabled).toBe(true);
  });
});
