import { describe, expect, test } from "@jest/globals";
import { PERMISSION_OF } from "../../schema/core/access";
import { WAITS } from "../../schema/core/waits";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { importerOf } from "../support/importers";
import { operationsOf, variables } from "../support/operations";
import { buildWorld, type World } from "../support/world";

const running = useApp();
let keys = 0;
const newKey = () => `key ${++keys} / ${process.pid}`;
type Body = Awaited<ReturnType<Api["request"]>>["body"];

const send = (key: string, query: string, values: object = {}, api: Api = running.api) =>
  api.request("POST", "/graphql", { query, variables: values }, { "Idempotency-Key": key });
const CREATE = "mutation ($name: String!) { createAssistant(input: { name: $name }) { id name } }";
const assistantCount = async () =>
  (await running.api.get("/rest/v1/assistants", 200)).meta.itemCount as number;
const codesOf = ({ errors }: Body) => errors.map(({ extensions }: Body) => extensions.code);

describe("a mutation with an Idempotency-Key", () => {
  test("runs once, and a repeated request gets the same result", async () => {
    const key = newKey();
    const first = await send(key, CREATE, { name: "Ada" });
    const count = await assistantCount();
    const second = await send(key, CREATE, { name: "Ada" });
    expect(second.body.data).toEqual(first.body.data);
    expect([first.body.extensions.replayed, second.body.extensions.replayed]).toEqual([
      undefined,
      ["createAssistant"],
    ]);
    expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
    expect(await assistantCount()).toBe(count);
  });

  test("is refused without a credential as it is without the key", async () => {
    const nobody = running.api.as({});
    for (const key of [newKey(), newKey()]) {
      const { body } = await send(key, CREATE, { name: "Ada" }, nobody);
      expect([codesOf(body), body.data]).toEqual([["UNAUTHENTICATED"], { createAssistant: null }]);
    }
  });

  test("repeats only the fields that failed, also in fragments and under aliases", async () => {
    const id = await newAssistant(running.api, { name: "Before" });
    const document = `
      mutation ($id: ID!, $skipped: Boolean!) {
        first: createProject(input: { name: "First" }) { id }
        ...Renamed
        ... on Mutation @skip(if: $skipped) { never: createProject(input: { name: "Never" }) { id } }
        last: createProject(input: { name: "Last" }) { id }
      }
      fragment Renamed on Mutation { renamed: updateAssistant(id: $id, input: { name: "After" }) { name } }`;
    const key = newKey();
    const values = { id, skipped: true };
    await running.database.query("alter table assistants add constraint renamed check (name <> 'After')");
    const first = await send(key, document, values);
    await running.database.query("alter table assistants drop constraint renamed");
    expect(first.body.data).toEqual({
      first: { id: expect.any(String) },
      renamed: null,
      last: expect.anything(),
    });
    expect(first.body.errors).toMatchObject([{ path: ["renamed"] }]);
    const second = await send(key, document, values);
    expect(second.body.data).toEqual({ ...first.body.data, renamed: { name: "After" } });
    expect(second.body.extensions.replayed).toEqual(["first", "last"]);
    expect(second.headers.get("idempotency-replayed")).toBeNull();
    const third = await send(key, document, values);
    expect([third.body.data, third.body.extensions.replayed]).toEqual([
      second.body.data,
      ["first", "renamed", "last"],
    ]);
  });

  test("keeps errors below a field with its result", async () => {
    const query = `mutation { createProject(input: { name: "Ada" }) { id webhookDestinations { deliveries(first: 1) { nodes { id } } } } }`;
    const refused = await send(newKey(), query.replace("first: 1", "first: 101"));
    expect(codesOf(refused.body)).toEqual(["BAD_USER_INPUT"]);
    const key = newKey();
    const [first, second] = [await send(key, query), await send(key, query)];
    expect(second.body.data).toEqual(first.body.data);
  });

  test("with another document or other variables is refused with 422, on both interfaces", async () => {
    const key = newKey();
    await send(key, CREATE, { name: "Ada" });
    const count = await assistantCount();
    for (const answer of [
      await send(key, CREATE, { name: "Bea" }),
      await send(key, `${CREATE} # other`, { name: "Ada" }),
      await send(key, 'mutation { createProject(input: { name: "Ada" }) { id } }'),
    ]) {
      expect([answer.status, answer.body.data, codesOf(answer.body)]).toEqual([
        422,
        null,
        ["IDEMPOTENCY_KEY_REUSED"],
      ]);
    }
    const overRest = { "Idempotency-Key": key };
    const answer = await running.api.request("POST", "/rest/v1/assistants", { name: "Ada" }, overRest);
    expect(answer).toMatchObject({ status: 422, body: { code: "IDEMPOTENCY_KEY_REUSED" } });
    expect(await assistantCount()).toBe(count);
  });

  test("of ten concurrent requests runs once, and the others get its result or 409", async () => {
    const key = newKey();
    const count = await assistantCount();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(key, CREATE, { name: "Ten" })));
    expect(await assistantCount()).toBe(count + 1);
    const done = answers.filter(({ status }) => status === 200);
    expect(new Set(done.map(({ body }) => body.data.createAssistant.id)).size).toBe(1);
    for (const { body } of answers.filter(({ status }) => status !== 200)) {
      expect(codesOf(body)).toEqual(["REQUEST_IN_PROGRESS"]);
    }
    expect((await send(key, CREATE, { name: "Ten" })).body.data).toEqual(done[0]!.body.data);
  });

  test("stores nothing of a field that is refused, so that it can be repeated", async () => {
    const key = newKey();
    const UPDATE = `mutation ($id: ID!) { updateAssistant(id: $id, input: { name: "Ada" }) { id } }`;
    for (let round = 0; round < 2; round++) {
      const { body } = await send(key, UPDATE, { id: UNKNOWN_ID });
      expect([codesOf(body), body.extensions.replayed]).toEqual([["ASSISTANT_NOT_FOUND"], undefined]);
    }
  });

  test("belongs to its caller: another organization's request with the same key runs", async () => {
    const other = await running.otherOrganization();
    const key = newKey();
    const [mine, theirs] = [
      await send(key, CREATE, { name: "Ada" }),
      await send(key, CREATE, { name: "Ada" }, other.api),
    ];
    expect(theirs.body.extensions.replayed).toBeUndefined();
    expect(theirs.body.data.createAssistant.id).not.toBe(mine.body.data.createAssistant.id);
  });

  test("has one with printable characters only; a query ignores it with a warning", async () => {
    const bad = await send("ü", CREATE, { name: "Ada" });
    expect(bad).toMatchObject({ status: 400, body: { details: [{ path: "Idempotency-Key" }] } });
    const query = await send(newKey(), "{ organization { id } }");
    expect(query.body.extensions.warnings).toEqual([
      "The header Idempotency-Key was ignored: only mutations support it.",
    ]);
  });

  test("replays its warnings", async () => {
    const assistantId = await newAssistant(running.api);
    await running.api.patch(
      `/rest/v1/assistants/${assistantId}/chat`,
      { initialMessage: "Hello {name}" },
      200,
    );
    const START = "mutation ($assistantId: ID!) { startChat(input: { assistantId: $assistantId }) { id } }";
    const key = newKey();
    const [first, second] = [
      await send(key, START, { assistantId }),
      await send(key, START, { assistantId }),
    ];
    expect(first.body.extensions.warnings).toEqual([expect.stringContaining("name")]);
    expect(second.body).toMatchObject({
      data: first.body.data,
      extensions: { warnings: first.body.extensions.warnings, replayed: ["startChat"] },
    });
  });

  test("compares the content of a file", async () => {
    const key = newKey();
    const upload = (content: string) =>
      running.api.request("POST", "/graphql", uploading(content), { "Idempotency-Key": key });
    const first = await upload("One");
    const second = await upload("One");
    expect(second.body).toMatchObject({ data: first.body.data, extensions: { replayed: ["uploadFile"] } });
    expect((await upload("Two")).status).toBe(422);
  });
});

function uploading(content: string): FormData {
  const data = new FormData();
  const query = "mutation ($file: Upload!) { uploadFile(file: $file) { id name } }";
  data.set("operations", JSON.stringify({ query, variables: { file: null } }));
  data.set("map", JSON.stringify({ file: ["variables.file"] }));
  data.set("file", new Blob([content], { type: "text/plain" }), "note.txt");
  return data;
}

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const mutations = operationsOf(schema).filter(({ kind }) => kind === "mutation");

/** Those that remove what others need come last. */
const isLast = (name: string): boolean => /^(delete|detach|disconnect|end|forget|cancel)/.test(name);
/** Operations whose example is refused here: they need a public key, or an earlier one took or restored their record. */
const REFUSED = ["testFunction", "startWidgetSession", "startWidgetCall"].concat([
  "detachFile",
  "endChat",
  "cancelCall",
  "endWidgetChat",
  "deleteWorkflowEdge",
]);

test("every mutation gives the same result for the same key", async () => {
  const world: World = await buildWorld(running.api);
  const visitor = running.api.as({ Authorization: `Bearer ${world.visitorToken}` });
  const refused: string[] = [];
  for (const { name, text } of mutations.toSorted(
    (a, b) => Number(isLast(a.name)) - Number(isLast(b.name)),
  )) {
    if (["uploadFile", "importFile"].includes(name)) continue; // see above
    const own = PERMISSION_OF[name] === "import" ? await importerOf(running.api) : running.api;
    const api = name.includes("Widget") ? visitor : own;
    const key = newKey();
    const values = variables[name]!(world);
    const first = await send(key, text, values, api);
    const second = await send(key, text, values, api);
    const replayed = first.body.errors ? undefined : [name];
    if (first.body.errors) refused.push(name);
    expect([name, second.body.data, second.body.extensions?.replayed]).toEqual([
      name,
      first.body.data,
      replayed,
    ]);
  }
  expect(refused).toEqual(REFUSED);
});

test("Operations that wait are operations of the schema", () => {
  const arguments_ = (name: string) =>
    schema
      .getMutationType()!
      .getFields()
      [name]?.args.map((arg) => arg.name);
  for (const [name, argument] of Object.entries(WAITS))
    expect([name, arguments_(name)]).toEqual([
      name,
      argument === true ? expect.anything() : expect.arrayContaining([...argument]),
    ]);
});
