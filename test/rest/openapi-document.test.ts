import { describe, expect, test } from "@jest/globals";
import { startApp, useApp } from "../support/app";

const running = useApp();
const documentOf = async ({ api }: Pick<typeof running, "api">) =>
  (await api.request("GET", "/rest/openapi.json")).text;

describe("the OpenAPI document", () => {
  test("has the address of its server in every example", async () => {
    const text = await documentOf(running);
    expect(text).not.toMatch(/(localhost|127\.0\.0\.1):4000/);
    expect(text).toContain(`${running.url}/rest/v1/assistants`);
    expect(JSON.parse(text).servers).toEqual([{ url: "/" }]);
  });

  test("has the public address in every example if there is one", async () => {
    const PUBLIC_BASE_URL = "https://parley.example.com";
    const app = await startApp(running.database, { PUBLIC_BASE_URL });
    try {
      const text = await documentOf(app);
      expect(text).not.toMatch(/https?:\/\/(localhost|127\.0\.0\.1)/);
      for (const path of ["/rest/v1/assistants", "/files/", "/analytics", "/widget/voice"])
        expect(text).toContain(`${PUBLIC_BASE_URL}${path}`);
    } finally {
      await app.stop();
    }
  });

  test("names the mutations that let an assistant answer from a file", async () => {
    const { paths, components } = JSON.parse(await documentOf(running));
    const upload = paths["/rest/v1/files/upload"].post.description;
    const settings = ["voice", "sms", "chat"].map(
      (kind) => paths[`/rest/v1/assistants/{assistantId}/${kind}`].patch.description,
    );
    for (const text of [upload, ...settings])
      expect(text).toMatch(/attachFile.+updateRagSettings|updateRagSettings.+attachFile/);
    for (const kind of ["Voice", "Sms", "Chat"])
      for (const field of ["isRagEnabled", "forceRag", "ragTriggerTopics", "preserveRagResult"])
        expect(components.schemas[`${kind}Configuration`].properties[field].description).toContain(
          "updateRagSettings",
        );
  });

  test("describes absent fields of responses as absent, and names no GraphQL operation without saying so", async () => {
    interface Schema {
      readonly description?: string;
      readonly type?: unknown;
      readonly properties?: Readonly<Record<string, Schema>>;
    }
    const schemas = JSON.parse(await documentOf(running)).components.schemas as Record<string, Schema>;
    const fields = Object.entries(schemas).flatMap(([name, { properties = {}, ...schema }]) => [
      { name, ...schema },
      ...Object.entries(properties).map(([field, one]) => ({ name: `${name}.${field}`, ...one })),
    ]);
    const text = ({ description = "" }: Schema) => description;
    const nulls = fields.filter((field) => /\bnull\b/.test(text(field)) && !/Input/.test(field.name));
    const isNull = ({ type, name }: Schema & { name: string }) =>
      String(type).includes("null") || name === "Log.messages" || name === "Log.metadata";
    expect(nulls.filter((field) => !isNull(field))).toEqual([]);
    const { __schema } = await running.api.gql("{ __schema { mutationType { fields { name } } } }");
    const names = (__schema.mutationType.fields as { name: string }[]).map(({ name }) => name);
    const named = fields.filter(
      (field) =>
        names.some((name) => /[A-Z]/.test(name) && new RegExp(`\\b${name}\\b`).test(text(field))) &&
        !text(field).includes("GraphQL"),
    );
    expect(named).toEqual([]);
    expect(fields.filter((field) => text(field).includes("withReply"))).toEqual([]);
  });
});
