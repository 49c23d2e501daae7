import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { assistantWith, metaOf } from "../support/shapes";

const running = useApp();
const PATH = "/rest/v1/assistants";

interface Named {
  id: string;
  name: string;
}
const names = ({ data }: { data: Named[] }) => data.map(({ name }) => name);

describe("an assistant", () => {
  test("is created with the sent fields, and read back unchanged", async () => {
    const { api } = running;
    const body = { name: "Ada", description: "first", variables: { b: { deep: [1, null, "x"] }, a: "é😀" } };
    const created = await api.post(PATH, body, 200);
    expect(created).toEqual(assistantWith(body));
    expect(await api.get(`${PATH}/${created.id}`, 200)).toEqual(created);
  });

  test("has neither description nor variables in any response if created without them", async () => {
    const { api } = running;
    const created = await api.post(PATH, { name: "Bare", description: null, variables: null }, 200);
    expect(created).toEqual(assistantWith({ name: "Bare" }));
    const { data } = await api.get(`${PATH}?take=1`, 200);
    expect(data).toEqual([created]);
  });

  test("changes only the fields of a PATCH", async () => {
    const { api } = running;
    const { id } = await api.post(PATH, { name: "Ada", description: "first" }, 200);
    await api.patch(`${PATH}/${id}`, { name: "Bea" }, 200);
    expect(await api.get(`${PATH}/${id}`, 200)).toEqual(
      assistantWith({ id, name: "Bea", description: "first" }),
    );
  });

  test("clears description and variables with null, and rejects null as name", async () => {
    const { api } = running;
    const id = await newAssistant(api, { name: "Ada", description: "first", variables: { a: 1 } });
    const cleared = await api.patch(`${PATH}/${id}`, { description: null, variables: null }, 200);
    expect(cleared).toEqual(assistantWith({ id, name: "Ada" }));
    const refused = await api.patch(`${PATH}/${id}`, { name: null }, 400);
    expect(refused.details).toEqual([{ path: "name", message: "must not be null" }]);
  });

  test("replaces its variables completely, without merging", async () => {
    const { api } = running;
    const id = await newAssistant(api, { name: "Ada", variables: { a: { x: 1 }, b: 2 } });
    await api.patch(`${PATH}/${id}`, { variables: { a: { y: 1 } } }, 200);
    expect((await api.get(`${PATH}/${id}`, 200)).variables).toEqual({ a: { y: 1 } });
  });

  test("accepts the body that was read from it, ignoring read-only fields", async () => {
    const { api } = running;
    const id = await newAssistant(api, { name: "Ada", description: "first", variables: { a: 1 } });
    const read = await api.get(`${PATH}/${id}`, 200);
    expect(await api.patch(`${PATH}/${id}`, { ...read, id: "another", template: true }, 200)).toEqual(read);
  });

  test("stays unchanged after an empty PATCH", async () => {
    const { api } = running;
    const id = await newAssistant(api, { name: "Ada", description: "first" });
    expect(await api.patch(`${PATH}/${id}`, {}, 200)).toMatchObject({ name: "Ada", description: "first" });
  });

  test("has a name of 1 to 255 characters in any alphabet", async () => {
    const { api } = running;
    for (const name of ["x".repeat(255), "😀".repeat(255)])
      expect((await api.post(PATH, { name }, 200)).name).toBe(name);
    for (const name of ["", "   ", "x".repeat(256), "😀".repeat(256)])
      expect((await api.post(PATH, { name }, 400)).details).toEqual([
        { path: "name", message: expect.any(String) },
      ]);
  });

  test("that does not exist returns 400 on every path that contains its id", async () => {
    const { api } = running;
    for (const id of [UNKNOWN_ID, "no-id", "%20", "'; drop table assistants"])
      for (const [method, tail, body] of [
        ["GET", ""],
        ["PATCH", "", { name: "x" }],
        ["DELETE", ""],
        ["GET", "/voice"],
        ["PATCH", "/voice", { prompt: "x" }],
        ["GET", "/sms"],
        ["PATCH", "/sms", { prompt: "x" }],
        ["GET", "/chat"],
        ["PATCH", "/chat", { prompt: "x" }],
        ["GET", "/theme"],
        ["PATCH", "/theme", { theme: {} }],
        ["GET", "/logs"],
        ["GET", `/log/${UNKNOWN_ID}`],
      ] as const) {
        const { status, body: answer } = await api.request(
          method,
          `${PATH}/${encodeURIComponent(id)}${tail}`,
          body,
        );
        expect([method, tail, status, answer.code]).toEqual([method, tail, 400, "ASSISTANT_NOT_FOUND"]);
      }
    expect((await api.post(`${PATH}/duplicate/${UNKNOWN_ID}`, undefined, 400)).code).toBe(
      "ASSISTANT_NOT_FOUND",
    );
  });
});

describe("the list of assistants", () => {
  test("is sorted newest first, has 20 entries per page, and returns the position of the page", async () => {
    const { api } = await running.otherOrganization();
    for (let count = 1; count <= 23; count++) await newAssistant(api, { name: `No. ${count}` });
    const first = await api.get(PATH, 200);
    expect(names(first)).toEqual(Array.from({ length: 20 }, (_, index) => `No. ${23 - index}`));
    expect(first.meta).toEqual(metaOf({ itemCount: 23 }));
    const second = await api.get(`${PATH}?page=2`, 200);
    expect(names(second)).toEqual(["No. 3", "No. 2", "No. 1"]);
    expect(second.meta).toEqual(metaOf({ itemCount: 23, page: 2 }));
    const ascending = await api.get(`${PATH}?order=asc&take=2&page=2`, 200);
    expect(names(ascending)).toEqual(["No. 3", "No. 4"]);
    expect(ascending.meta).toEqual(metaOf({ itemCount: 23, page: 2, take: 2 }));
    expect((await api.get(`${PATH}?take=100`, 200)).data).toHaveLength(23);
  });

  test("returns an empty page after the end, and in an organization without assistants", async () => {
    const { api } = await running.otherOrganization();
    expect(await api.get(PATH, 200)).toEqual({
      data: [],
      meta: metaOf({ itemCount: 0 }),
    });
    await newAssistant(api);
    expect(await api.get(`${PATH}?page=7&take=5`, 200)).toEqual({
      data: [],
      meta: metaOf({ itemCount: 1, page: 7, take: 5 }),
    });
  });

  test.each(["page=0", "page=-1", "page=1.5", "page=abc", "page=", "page=1e2", "page=99999999999"])(
    "rejects %s and names the parameter",
    async (query) => {
      const { details } = await running.api.get(`${PATH}?${query}`, 400);
      expect(details).toEqual([{ path: "page", message: expect.any(String) }]);
    },
  );

  test.each(["take=0", "take=101", "take=abc", "take=NaN", "order=up", "order=DESC"])(
    "rejects %s and names the parameter",
    async (query) => {
      const { details } = await running.api.get(`${PATH}?${query}`, 400);
      expect(details).toEqual([{ path: query.split("=")[0], message: expect.any(String) }]);
    },
  );

  test("contains neither templates nor deleted assistants", async () => {
    const { api } = await running.otherOrganization();
    const [kept, gone] = [await newAssistant(api, { name: "kept" }), await newAssistant(api)];
    expect(await api.delete(`${PATH}/${gone}`, 200)).toEqual({ id: gone });
    const { data, meta } = await api.get(PATH, 200);
    expect(data).toEqual([assistantWith({ id: kept, name: "kept" })]);
    expect(meta.itemCount).toBe(1);
  });
});
