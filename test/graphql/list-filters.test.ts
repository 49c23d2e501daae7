import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat, quietAssistant } from "../support/factories";
import { form } from "../support/world";

const running = useApp();
let api: Api;
beforeAll(async () => {
  ({ api } = await running.otherOrganization());
});

describe("assistants(projectId)", () => {
  const QUERY = `query ($projectId: ID, $search: String) {
    assistants(projectId: $projectId, search: $search) { data { name } meta { itemCount } } }`;
  let projectId: string;
  beforeAll(async () => {
    projectId = (await api.gql(`mutation { createProject(input: { name: "P" }) { id } }`)).createProject.id;
    const create = `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { id } }`;
    for (const name of ["in one", "in two"]) await api.gql(create, { input: { name, projectId } });
    await newAssistant(api, { name: "outside" });
  });
  const listed = async (variables: Record<string, unknown>) => (await api.gql(QUERY, variables)).assistants;

  test("lists and counts only those of the project, also with a search", async () => {
    const all = await listed({ projectId });
    expect([all.data.map(({ name }: { name: string }) => name), all.meta.itemCount]).toEqual([
      ["in two", "in one"],
      2,
    ]);
    expect((await listed({ projectId, search: "ONE" })).data).toEqual([{ name: "in one" }]);
    expect((await listed({})).meta.itemCount).toBe(3);
  });

  test("lists none of an unknown project, and refuses null by its name", async () => {
    expect((await listed({ projectId: "unknown" })).data).toEqual([]);
    const { extensions } = await api.gqlError(QUERY, { projectId: null });
    expect(extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "projectId" }] });
  });
});

describe("files(name, mimeType)", () => {
  const QUERY = `query ($name: String, $mimeType: String) {
    files(name: $name, mimeType: $mimeType, order: asc) { data { name } meta { itemCount } } }`;
  beforeAll(async () => {
    for (const name of ["Prices 100%.txt", "prices_old.txt", "menu.txt"])
      await api.post("/rest/v1/files/upload", form(name, "text", {}), 201);
  });
  const names = async (variables: Record<string, unknown>) =>
    (await api.gql(QUERY, variables)).files.data.map(({ name }: { name: string }) => name);

  test("finds parts of names, in any case, and takes wildcards as they are written", async () => {
    expect(await names({ name: "PRICES" })).toEqual(["Prices 100%.txt", "prices_old.txt"]);
    expect(await names({ name: "%" })).toEqual(["Prices 100%.txt"]);
    expect(await names({ name: "_" })).toEqual(["prices_old.txt"]);
  });

  test("finds whole types and their first part", async () => {
    expect(await names({ mimeType: "text/plain" })).toHaveLength(3);
    expect(await names({ mimeType: "TEXT" })).toHaveLength(3);
    expect(await names({ mimeType: "image" })).toEqual([]);
    expect(await names({ mimeType: "text/plain", name: "menu" })).toEqual(["menu.txt"]);
  });
});

describe("chats", () => {
  const QUERY = `query ($filter: ChatFilter, $first: Int) {
    chats(filter: $filter, first: $first) { nodes { id } pageInfo { hasNextPage } } }`;
  const ids = async (variables: Record<string, unknown> = {}, of: Api = api) =>
    (await of.gql(QUERY, variables)).chats.nodes.map(({ id }: { id: string }) => id);

  test("lists the chats of all assistants, live and ended, newest first", async () => {
    const [one, other] = [await quietAssistant(api), await quietAssistant(api)];
    const made = [await newChat(api, one), await newChat(api, other), await newChat(api, one)];
    await endChat(api, made[1]!);
    expect(await ids()).toEqual(made.toReversed());
    expect(await ids({ filter: { status: "ended" } })).toEqual([made[1]]);
    expect(await ids({ filter: { channel: "VOICE" } })).toEqual([]);
    expect((await api.gql(QUERY, { first: 2 })).chats.pageInfo.hasNextPage).toBe(true);
    expect(await ids({}, running.api)).toEqual([]);
  });

  test("a key with assistants lists the chats of these", async () => {
    const [mine, other] = [await quietAssistant(api), await quietAssistant(api)];
    const chat = await newChat(api, mine);
    await newChat(api, other);
    const { createKey } = await api.gql(
      `mutation ($input: CreateKeyInput!) { createKey(input: $input) { value } }`,
      { input: { type: "SECRET", assistantIds: [mine] } },
    );
    expect(await ids({}, api.as({ "X-API-Key": createKey.value }))).toEqual([chat]);
  });

  test("an unknown status is refused with the valid ones", async () => {
    const { extensions } = await api.gqlError(QUERY, { filter: { status: "endet" } });
    expect(extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [{ path: "filter.status", message: expect.stringContaining("in-progress") }],
    });
  });
});
