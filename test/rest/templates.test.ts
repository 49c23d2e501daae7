import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { UNKNOWN_ID } from "../support/factories";
import { assistantWith, metaOf } from "../support/shapes";

const running = useApp();
const PATH = "/rest/v1/assistants";

interface Named {
  id: string;
  name: string;
}

describe("templates", () => {
  const list = async (query = "") => running.api.get(`${PATH}/templates${query}`, 200);

  test("are six, marked as templates, the same for every organization, and paged like assistants", async () => {
    const { data, meta } = await list();
    expect(meta).toEqual(metaOf({ itemCount: 6 }));
    for (const template of data)
      expect(template).toEqual(
        assistantWith({
          name: expect.any(String),
          description: expect.any(String),
          template: true,
          variables: expect.any(Object),
        }),
      );
    expect(new Set(data.map(({ id }: Named) => id)).size).toBe(6);
    const { api: other } = await running.otherOrganization();
    expect(await other.get(`${PATH}/templates`, 200)).toEqual({ data, meta });
    const ascending = await list("?order=asc&take=4");
    expect(ascending.data).toEqual(data.toReversed().slice(0, 4));
    expect(ascending.meta).toMatchObject({ take: 4, pageCount: 2, hasNextPage: true });
    expect((await list("?order=asc&take=4&page=2")).data).toEqual(data.toReversed().slice(4));
  });

  test("are read by id with their four configurations, and have no logs", async () => {
    const { api } = await running.otherOrganization();
    for (const template of (await list()).data) {
      expect(await api.get(`${PATH}/${template.id}`, 200)).toEqual(template);
      for (const kind of ["voice", "sms", "chat"]) {
        const { prompt, initialMessage } = await api.get(`${PATH}/${template.id}/${kind}`, 200);
        expect(prompt.length).toBeGreaterThan(200);
        expect(initialMessage).not.toBe("");
      }
      expect((await api.get(`${PATH}/${template.id}/theme`, 200)).mode).toEqual(expect.any(String));
      expect(await api.get(`${PATH}/${template.id}/logs`, 200)).toEqual([]);
      expect((await api.get(`${PATH}/${template.id}/log/${UNKNOWN_ID}`, 404)).code).toBe("LOG_NOT_FOUND");
    }
  });

  test("are used by duplicating them: the copy belongs to the organization and can be changed", async () => {
    const { api } = await running.otherOrganization();
    for (const { id, name, template: _, ...rest } of (await list()).data) {
      const copy = await api.post(`${PATH}/duplicate/${id}`, undefined, 200);
      expect(copy).toEqual(assistantWith({ ...rest, id: copy.id, name: `${name} (copy)` }));
      for (const kind of ["voice", "sms", "chat", "theme"])
        expect(await api.get(`${PATH}/${copy.id}/${kind}`, 200)).toEqual(
          await api.get(`${PATH}/${id}/${kind}`, 200),
        );
      await api.patch(`${PATH}/${copy.id}/chat`, { prompt: "Mine." }, 200);
    }
    expect((await api.get(PATH, 200)).meta.itemCount).toBe(6);
  });

  test("return 403 TEMPLATE_READ_ONLY for every change, and for a chat", async () => {
    const { api } = running;
    const [{ id }] = (await list()).data;
    const before = await api.get(`${PATH}/${id}/chat`, 200);
    for (const [method, tail, body] of [
      ["PATCH", "", { name: "Mine" }],
      ["DELETE", ""],
      ["PATCH", "/voice", { prompt: "x" }],
      ["PATCH", "/sms", { prompt: "x" }],
      ["PATCH", "/chat", { prompt: "x" }],
      ["PATCH", "/theme", { theme: {} }],
    ] as const) {
      const { status, body: answer } = await api.request(method, `${PATH}/${id}${tail}`, body);
      expect([method, tail, status, answer.code]).toEqual([method, tail, 403, "TEMPLATE_READ_ONLY"]);
    }
    const start = "mutation ($id: ID!) { startChat(input: { assistantId: $id }) { id } }";
    expect((await api.gqlError(start, { id })).extensions.code).toBe("TEMPLATE_READ_ONLY");
    expect(await api.get(`${PATH}/${id}/chat`, 200)).toEqual(before);
  });
});
