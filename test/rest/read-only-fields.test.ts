import { beforeAll, describe, expect, test } from "@jest/globals";
import { readConfig } from "../../src/platform/settings/config";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { compileInterfaces } from "../../src/start/app";
import { startApp, useApp } from "../support/app";
import { exampleOf, send } from "../support/examples";
import { buildWorld, type World } from "../support/world";

const running = useApp();
let world: World;
beforeAll(async () => {
  world = await buildWorld(running.api);
});

const { rows } = compileInterfaces(loadCatalog(), readConfig({}));
const fieldsOf = (method: string) =>
  rows
    .filter((route) => route.method === method)
    .flatMap((route) =>
      [...(route.operation?.readOnly ?? [])].map(([field, advice]) => ({
        route,
        id: route.id,
        field,
        advice,
      })),
    );
const CHANGES_BY_ITSELF = ["updatedAt"];
const WARNING = "is read-only here and was ignored";

describe("a read-only field with another value", () => {
  const changed = fieldsOf("patch").filter(({ field }) => !CHANGES_BY_ITSELF.includes(field));

  test.each(changed)("$field in $id is ignored, and a Warning says why", async ({ route, field, advice }) => {
    const call = exampleOf(route.id)(world);
    const answer = await send(running.api, route, { ...call, body: { ...call.body, [field]: "another" } });
    expect([answer.text, answer.status]).toEqual([answer.text, route.success]);
    const warned = `299 parley "The field ${field} ${WARNING}: ${advice}."`;
    expect(answer.headers.get("warning")?.split(", 299")[0]).toBe(warned);
  });

  test.each(fieldsOf("post"))("$field in $id is refused with a reason", async ({ route, field, advice }) => {
    const call = exampleOf(route.id)(world);
    const answer = await send(running.api, route, { ...call, body: { ...call.body, [field]: "another" } });
    expect(answer.status).toBe(400);
    expect(answer.body.details).toEqual([{ path: field, message: `is read-only: ${advice}` }]);
  });

  test.each([
    ["chat", "isRagEnabled", true, "change it with the GraphQL mutation updateRagSettings"],
    ["theme", "mode", "CHAT_ONLY", "change it with the GraphQL mutation updateThemeConfiguration"],
  ])("in %s, %s = %j, names the mutation that changes it", async (kind, field, value, advice) => {
    const path = `/rest/v1/assistants/${world.assistantId}/${kind}`;
    const { status, body, headers } = await running.api.request("PATCH", path, { [field]: value });
    expect([status, body[field]]).not.toEqual([200, value]);
    expect(headers.get("warning")).toContain(`The field ${field} ${WARNING}: ${advice}.`);
  });
});

test("read-only fields that are sent back as they were read cause no Warning", async () => {
  const { api } = running;
  const configurations = ["", "/voice", "/sms", "/chat", "/theme"];
  const paths = [
    ...configurations.map((part) => `/rest/v1/assistants/${world.assistantId}${part}`),
    `/rest/v1/organization/keys/${world.keyId}`,
  ];
  for (const path of paths) {
    const { headers, status } = await api.request("PATCH", path, await api.get(path, 200));
    // The model of the example is a withdrawn one, which has a Warning of its own.
    expect([path, status, headers.get("warning") ?? ""]).toEqual([
      path,
      200,
      expect.not.stringContaining(WARNING),
    ]);
  }
  const [destination] = (await api.get("/rest/v1/settings", 201)) as { id: string }[];
  const { headers } = await api.request("PATCH", `/rest/v1/settings/${destination!.id}`, destination);
  expect(headers.get("warning")).toBeNull();
});

test("a key whose name alone is to change is refused: the error names the status and the name", async () => {
  const path = `/rest/v1/organization/keys/${world.keyId}`;
  expect((await running.api.patch(path, { name: "Shop" }, 400)).details).toEqual([
    { path: "name", message: "is read-only: it is fixed when the key is created, so create another key" },
    { path: "status", message: "is required: ACTIVE or INACTIVE" },
  ]);
});

test("fields that REST_UNKNOWN_FIELDS=ignore ignores are named, with the nearest known one", async () => {
  const { api, stop } = await startApp(running.database, { REST_UNKNOWN_FIELDS: "ignore" });
  try {
    const post = (body: object) => api.request("POST", "/rest/v1/assistants", body);
    const { status, headers } = await post({
      name: "A",
      descripiton: "d",
      zzz: 1,
      id: "mine",
      template: false,
    });
    expect([status, headers.get("warning")]).toEqual([
      200,
      [
        '299 parley "The field descripiton is unknown and was ignored. Did you mean description?"',
        '299 parley "The field zzz is unknown and was ignored. This path takes name, description, variables, missingVariables."',
        `299 parley "The field id ${WARNING}: the service assigns it."`,
      ].join(", "),
    ]);
    expect((await post({ name: "A", keywords: "BOOK" })).headers.get("warning")).toBe(
      '299 parley "The field keywords is unknown and was ignored. Set it with PATCH /rest/v1/assistants/{assistantId}/sms."',
    );
    expect((await post({ nmae: "A" })).headers.get("warning")).toContain("Did you mean name?");
  } finally {
    await stop();
  }
});
