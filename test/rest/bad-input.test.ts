import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { hostileJson } from "../support/hostile";
import { closeRaw } from "../support/raw";
import { assistantWith, KINDS, namesOf, patchOf, type Kind } from "../support/shapes";

const running = useApp();
const ASSISTANTS = "/rest/v1/assistants";
const JSON_BODY = { "Content-Type": "application/json" };
const MEBIBYTE = 1_048_576;
let id = "";
let keyId = "";
let webhookId = "";

beforeAll(async () => {
  const { api } = running;
  id = (await api.post(ASSISTANTS, { name: "Ada" }, 200)).id;
  keyId = (await api.post("/rest/v1/organization/keys", {}, 200)).id;
  const webhook = { url: "https://example.com", secret: "s", name: "w" };
  webhookId = (await api.post("/rest/v1/settings", webhook, 201)).id;
});
afterAll(closeRaw);

interface Detail {
  readonly path: string;
  readonly message: string;
}
/** The paths in the details of an error. */
async function wrongPaths(method: string, path: string, body: unknown): Promise<string[]> {
  const answer = await running.api.request(method, path, hostileJson(body), JSON_BODY);
  expect([answer.text, answer.status, answer.body.code]).toEqual([answer.text, 400, "BAD_USER_INPUT"]);
  const details = answer.body.details as Detail[];
  for (const { path, message } of details)
    expect(answer.body.message).toContain(path ? `${path}: ${message}` : message);
  return details.map(({ path }) => path).sort();
}
const patch = (kind: string, body: unknown) => wrongPaths("PATCH", `${ASSISTANTS}/${id}/${kind}`, body);
const create = (body: unknown) => wrongPaths("POST", ASSISTANTS, body);

const fieldsOf = (kind: Kind) => namesOf(patchOf(kind));
const all = (kind: Kind, value: unknown) => Object.fromEntries(fieldsOf(kind).map((name) => [name, value]));

describe("an invalid value", () => {
  test.each(KINDS)("in every field of %s gives one error per field", async (kind) => {
    expect(await patch(kind, all(kind, null))).toEqual(fieldsOf(kind));
    expect(await patch(kind, all(kind, [[1]]))).toEqual(
      fieldsOf(kind).map((name) => (name === "functions" ? "functions.0" : name)),
    );
    const objects = fieldsOf(kind).filter((name) => name !== "theme");
    expect(await patch(kind, { ...all(kind, { a: 1 }), theme: "dark" })).toEqual(
      expect.arrayContaining(objects),
    );
  });

  test("of another type gives an error with its path in all other bodies", async () => {
    const texts = { userId: 5, expiresIn: {} };
    expect(await create({ name: 5, description: [], variables: "x" })).toEqual([
      "description",
      "name",
      "variables",
    ]);
    expect(
      await wrongPaths("PATCH", `${ASSISTANTS}/${id}`, { name: {}, description: 1, variables: [] }),
    ).toEqual(["description", "name", "variables"]);
    expect(await wrongPaths("POST", "/rest/v1/settings", { url: 1, secret: [], name: true })).toEqual([
      "name",
      "secret",
      "url",
    ]);
    expect(
      await wrongPaths("PATCH", `/rest/v1/settings/${webhookId}`, { url: 1, secret: [], name: true }),
    ).toEqual(["name", "secret", "url"]);
    expect(await wrongPaths("POST", "/rest/v1/organization/token", texts)).toEqual(["expiresIn", "userId"]);
    expect(await wrongPaths("POST", "/rest/v1/organization/keys", { type: 1, status: "active" })).toEqual([
      "status",
      "type",
    ]);
    expect(await wrongPaths("PATCH", `/rest/v1/organization/keys/${keyId}`, { status: 0 })).toEqual([
      "status",
    ]);
    expect(
      await wrongPaths("POST", "/rest/v1/ai-chats/messages", {
        aiChatId: 1,
        role: "user",
        channel: [],
        content: 1,
        metadata: "x",
      }),
    ).toEqual(["aiChatId", "channel", "content", "metadata", "role"]);
  });

  test("that is missing gives an error with its path", async () => {
    expect(await create({})).toEqual(["name"]);
    expect(await wrongPaths("POST", "/rest/v1/settings", {})).toEqual(["secret", "url"]);
    expect(await wrongPaths("PATCH", `/rest/v1/organization/keys/${keyId}`, {})).toEqual(["status"]);
    expect(await wrongPaths("POST", "/rest/v1/ai-chats/messages", {})).toEqual([
      "aiChatId",
      "channel",
      "metadata",
      "role",
    ]);
  });

  test("of an enum gives an error that lists the allowed values", async () => {
    const { details } = await running.api.patch(
      `${ASSISTANTS}/${id}/voice`,
      { backgroundSound: "LOUD" },
      400,
    );
    expect(details).toEqual([
      {
        path: "backgroundSound",
        message: expect.stringMatching(/^must be one of DEFAULT, OFF, OFFICE; got /),
      },
    ]);
    expect(await patch("sms", { provider: "ANTHROPIC", model: "CLAUDE_3_OPUS" })).toEqual([
      "model",
      "provider",
    ]);
    expect(await patch("voice", { provider: "openai", voice: "BURT", voiceProvider: "__proto__" })).toEqual([
      "provider",
      "voice",
      "voiceProvider",
    ]);
  });

  test("in one field leaves the other fields unstored", async () => {
    await patch("voice", { prompt: "not stored", temperature: 3 });
    expect((await running.api.get(`${ASSISTANTS}/${id}/voice`, 200)).prompt).not.toBe("not stored");
  });
});

describe("null", () => {
  test("clears an optional field and is rejected for a required one", async () => {
    const { api } = running;
    const made = await api.post(ASSISTANTS, { name: "A", description: "d", variables: { a: 1 } }, 200);
    const cleared = await api.patch(`${ASSISTANTS}/${made.id}`, { description: null, variables: null }, 200);
    expect(cleared).toEqual(assistantWith({ id: made.id, name: "A" }));
    expect(await wrongPaths("PATCH", `${ASSISTANTS}/${made.id}`, { name: null })).toEqual(["name"]);
    expect(await api.patch(`/rest/v1/settings/${webhookId}`, { name: null }, 200)).toMatchObject({
      name: null,
    });
    expect(await wrongPaths("PATCH", `/rest/v1/settings/${webhookId}`, { url: null, secret: null })).toEqual([
      "secret",
      "url",
    ]);
    expect(await wrongPaths("PATCH", `/rest/v1/organization/keys/${keyId}`, { status: null })).toEqual([
      "status",
    ]);
  });

  test("is rejected for fields that exist only in requests", async () => {
    expect(
      await wrongPaths("POST", "/rest/v1/organization/token", { userId: null, expiresIn: null }),
    ).toEqual(["expiresIn", "userId"]);
    expect(await wrongPaths("POST", "/rest/v1/organization/keys", { type: null, status: null })).toEqual([
      "status",
      "type",
    ]);
  });
});

describe("text", () => {
  test("may contain emoji, and a name counts characters, not UTF-16 units", async () => {
    const name = "🎉".repeat(255);
    expect(await running.api.post(ASSISTANTS, { name, description: "👩‍👩‍👧" }, 200)).toMatchObject({
      name,
      description: "👩‍👩‍👧",
    });
    expect(await create({ name: `${name}x` })).toEqual(["name"]);
    expect(await create({ name: "" })).toEqual(["name"]);
    expect(await create({ name: " \n" })).toEqual(["name"]);
    await running.api.post(ASSISTANTS, { name: "x" }, 200);
  });

  test("may be up to 1 MiB long, in bytes", async () => {
    const { api } = running;
    const path = `${ASSISTANTS}/${id}/voice`;
    for (const text of ["x".repeat(MEBIBYTE), "é".repeat(MEBIBYTE / 2)])
      expect((await api.patch(path, { prompt: text }, 200)).prompt).toBe(text);
    for (const text of ["x".repeat(MEBIBYTE + 1), `${"é".repeat(MEBIBYTE / 2)}x`])
      expect(await patch("voice", { prompt: text, resources: "" })).toEqual(["prompt"]);
    await api.patch(path, { prompt: "short" }, 200);
  });

  test.each([["\0"], ["a\0b"], ["\ud800"], ["\udc00x"]])(
    "may not contain %j, in values and in objects",
    async (text) => {
      expect(await create({ name: text, description: text, variables: { a: [text] } })).toEqual([
        "description",
        "name",
        "variables",
      ]);
      expect(await create({ name: "A", variables: { [text]: 1 } })).toEqual(["variables"]);
      expect(await patch("voice", { endCallMessage: text, functions: [{ name: text }] })).toEqual([
        "endCallMessage",
        "functions.0",
      ]);
    },
  );
});

describe("numbers", () => {
  test.each([
    ["temperature", [0, 0.5, 2], [-0.1, 2.1, "1", true, "@1e999@", "@-1e999@"]],
    ["maxTokensOutput", [1, 16_384], [0, 16_385, 1.5, "5", 2 ** 40, "@digits@"]],
  ])("%s is limited to its range", async (name, right, wrong) => {
    for (const value of right)
      expect((await running.api.patch(`${ASSISTANTS}/${id}/chat`, { [name]: value }, 200))[name]).toBe(value);
    for (const value of wrong)
      expect([value, await patch("chat", { [name]: value })]).toEqual([value, [name]]);
  });

  test("functions are limited to 64", async () => {
    const functions = (length: number) => Array.from({ length }, (_, n) => ({ name: `f${n}` }));
    expect(
      (await running.api.patch(`${ASSISTANTS}/${id}/chat`, { functions: functions(64) }, 200)).functions,
    ).toHaveLength(64);
    expect(await patch("chat", { functions: functions(65) })).toEqual(["functions"]);
    expect(await patch("chat", { functions: { name: "f" } })).toEqual(["functions"]);
  });
});
