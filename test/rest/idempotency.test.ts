import { describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";

const running = useApp();
const ASSISTANTS = "/rest/v1/assistants";
let keys = 0;
const newKey = () => `key ${++keys} / ${process.pid}`;

const post = (key: string, body: unknown, path = ASSISTANTS, api: Api = running.api) =>
  api.request("POST", path, body, { "Idempotency-Key": key });
const assistantCount = async (api: Api = running.api) =>
  (await api.get(ASSISTANTS, 200)).meta.itemCount as number;

describe("Idempotency-Key", () => {
  test("the same key and body get the same response, and the request runs once", async () => {
    const key = newKey();
    const first = await post(key, { name: "Ada" });
    const count = await assistantCount();
    const second = await post(key, { name: "Ada" });
    expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([200, null]);
    expect([second.status, second.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(second.text).toBe(first.text);
    expect(await assistantCount()).toBe(count);
  });

  test("a replayed response has the warnings of the first one", async () => {
    const assistantId = await newAssistant(running.api);
    await running.api.patch(`${ASSISTANTS}/${assistantId}/chat`, { initialMessage: "Hello {name}" }, 200);
    const start = (key: string) => post(key, { assistantId }, "/rest/v1/ai-chats?unknown=1");
    const key = newKey();
    const first = await start(key);
    expect(first.headers.get("warning")).toMatch(/query parameter unknown.*name/);
    const second = await start(key);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.headers.get("warning")).toBe(first.headers.get("warning"));
    const other = await start(newKey());
    expect(other.headers.get("warning")).toBe(first.headers.get("warning"));
  });

  test("another body or path with the same key returns 422", async () => {
    const key = newKey();
    await post(key, { name: "Ada" });
    const count = await assistantCount();
    for (const answer of [
      await post(key, { name: "Bea" }),
      await post(key, {}, "/rest/v1/organization/keys"),
    ])
      expect(answer).toMatchObject({ status: 422, body: { code: "IDEMPOTENCY_KEY_REUSED" } });
    expect(await assistantCount()).toBe(count);
  });

  test("of twenty concurrent requests one runs, and the others get its response or 409", async () => {
    const key = newKey();
    const count = await assistantCount();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(key, { name: "Twenty" })));
    expect(await assistantCount()).toBe(count + 1);
    const done = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ body }) => body.code === "REQUEST_IN_PROGRESS");
    expect(done.length + refused.length).toBe(20);
    expect(new Set(done.map(({ body }) => body.id)).size).toBe(1);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 409));
    expect(await post(key, { name: "Twenty" })).toMatchObject({ status: 200, text: done[0]!.text });
  });

  test("a failure is not stored: the same key works with a corrected request", async () => {
    const key = newKey();
    expect((await post(key, { name: 5 })).status).toBe(400);
    expect((await post(key, {}, `${ASSISTANTS}/duplicate/unknown`)).status).toBe(400);
    const answer = await post(key, { name: "Right" });
    expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([200, null]);
  });

  test("an upload is stored once, and another content with its key returns 422", async () => {
    const key = newKey();
    const form = (text: string, metadata = "{}") => {
      const form = new FormData();
      form.set("file", new Blob([text]), "a.txt");
      form.set("metadata", metadata);
      return form;
    };
    const upload = (body: FormData) => post(key, body, "/rest/v1/files/upload");
    const first = await upload(form("text"));
    expect(first.status).toBe(201);
    expect(await upload(form("text"))).toMatchObject({ status: 201, text: first.text });
    expect((await upload(form("another text"))).status).toBe(422);
    expect((await upload(form("text", '{"a":1}'))).status).toBe(422);
    expect((await running.api.get("/rest/v1/files", 200)).meta.itemCount).toBe(1);
  });

  test("the same key in another organization is a different key", async () => {
    const { api } = await running.otherOrganization();
    const key = newKey();
    const ours = await post(key, { name: "Ada" });
    const theirs = await post(key, { name: "Bea" }, ASSISTANTS, api);
    expect(theirs).toMatchObject({ status: 200, body: { name: "Bea" } });
    expect(theirs.headers.get("idempotency-replayed")).toBeNull();
    expect(theirs.body.id).not.toBe(ours.body.id);
  });

  test("a stored response is returned only to callers that are allowed to make the request", async () => {
    const key = newKey();
    const path = "/rest/v1/organization/keys";
    expect((await post(key, {}, path)).status).toBe(200);
    const { token } = await running.api.post("/rest/v1/organization/token", { userId: "customer-42" }, 200);
    const shown = running.api.as({ "X-API-Key": running.publicKey });
    const user = running.api.as({ Authorization: `Bearer ${token}` });
    for (const api of [shown, user]) {
      const answer = await post(key, {}, path, api);
      expect([answer.status, answer.text.includes("parley_sk_")]).toEqual([403, false]);
    }
  });

  test.each(["", "é", "x".repeat(256)])("an invalid key returns 400: %p", async (key) => {
    const answer = await post(key, { name: "Ada" });
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: "Idempotency-Key" }] } });
  });
});
