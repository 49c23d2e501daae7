import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";

const running = useApp();
let assistantId: string;
beforeAll(async () => {
  assistantId = await newAssistant(running.api);
});

/** Input of each kind of record, without its key. */
const KINDS = {
  Assistant: () => ({ name: "Ada" }),
  Workflow: () => ({ name: "Intake" }),
  WebhookDestination: () => ({ url: "https://example.com/hook", secret: "a-secret" }),
  Deployment: () => ({ type: "API", assistantId }),
} as const;
type Kind = keyof typeof KINDS;

const create = (kind: Kind) =>
  `mutation ($input: Create${kind}Input!) { record: create${kind}(input: $input) { id key } }`;
const update = (kind: Kind) =>
  `mutation ($id: ID!, $input: Update${kind}Input!) { record: update${kind}(id: $id, input: $input) { id key } }`;

const made = async (api: Api, kind: Kind, key?: string | null): Promise<{ id: string; key: string | null }> =>
  (await api.gql(create(kind), { input: { ...KINDS[kind](), key } })).record;

describe.each(Object.keys(KINDS) as Kind[])("the key of a record of the type %s", (kind) => {
  test("is stored, changed and removed", async () => {
    const { id, key } = await made(running.api, kind, "front-desk.v1_a");
    expect(key).toBe("front-desk.v1_a");
    const changed = await running.api.gql(update(kind), { id, input: { key: "front-desk" } });
    expect(changed.record.key).toBe("front-desk");
    const removed = await running.api.gql(update(kind), { id, input: { key: null } });
    expect(removed.record.key).toBeNull();
    expect((await made(running.api, kind)).key).toBeNull();
  });

  test("may be sent again, but not be that of another record", async () => {
    const { id } = await made(running.api, kind, "taken");
    expect((await running.api.gql(update(kind), { id, input: { key: "taken" } })).record.id).toBe(id);
    const other = await made(running.api, kind);
    const conflict = {
      message: expect.stringMatching(/^Another [a-z ]+ has the key "taken"\.$/),
      extensions: {
        code: "CONFLICT",
        details: [{ path: "input.key", message: "is already used by another record" }],
      },
    };
    expect(
      await running.api.gqlError(create(kind), { input: { ...KINDS[kind](), key: "taken" } }),
    ).toMatchObject(conflict);
    expect(await running.api.gqlError(update(kind), { id: other.id, input: { key: "taken" } })).toMatchObject(
      conflict,
    );
    await running.api.gql(`mutation ($id: ID!) { delete${kind}(id: $id) { id } }`, { id });
    expect((await made(running.api, kind, "taken")).key).toBe("taken");
  });

  test("is given to only one of several records that are created at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 5 }, () =>
        running.api.graphql(create(kind), { input: { ...KINDS[kind](), key: "contested" } }),
      ),
    );
    const codes = all.map(({ body }) => body.errors?.[0].extensions.code ?? "created");
    expect(codes.sort()).toEqual(["CONFLICT", "CONFLICT", "CONFLICT", "CONFLICT", "created"]);
  });

  test.each(["", "Front-Desk", "-front", "front desk", "../front", "a".repeat(101)])(
    "is refused with the field's name: %j",
    async (key) => {
      const error = await running.api.gqlError(create(kind), { input: { ...KINDS[kind](), key } });
      expect(error.extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "input.key" }] });
    },
  );
});

test("a key may be that of a record of another type, or of another organization", async () => {
  const { api } = await running.otherOrganization();
  for (const kind of ["Assistant", "Workflow", "WebhookDestination"] as const)
    expect([(await made(running.api, kind, "shared")).key, (await made(api, kind, "shared")).key]).toEqual([
      "shared",
      "shared",
    ]);
});

test("a copy of an assistant has no key", async () => {
  const { id } = await made(running.api, "Assistant", "original");
  const copy = "mutation ($id: ID!) { record: duplicateAssistant(id: $id) { key } }";
  expect((await running.api.gql(copy, { id })).record.key).toBeNull();
});

test("a key leaves a switched-off destination off", async () => {
  const { id } = await made(running.api, "WebhookDestination");
  await running.database.query("update webhook_destinations set enabled = false where id = $1", [id]);
  const enabled = async (input: object) =>
    (
      await running.api.gql(
        "mutation ($id: ID!, $input: UpdateWebhookDestinationInput!) { record: updateWebhookDestination(id: $id, input: $input) { enabled } }",
        { id, input },
      )
    ).record.enabled as boolean;
  expect(await enabled({ key: "off" })).toBe(false);
  expect(await enabled({ key: "off", name: "Back" })).toBe(true);
});
