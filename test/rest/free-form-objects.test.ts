import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { hostileJson } from "../support/hostile";

const running = useApp();
const ASSISTANTS = "/rest/v1/assistants";
const JSON_BODY = { "Content-Type": "application/json" };
let id = "";

beforeAll(async () => {
  id = (await running.api.post(ASSISTANTS, { name: "Ada" }, 200)).id;
});

/** The paths in the details of an error. */
async function wrongPaths(method: string, path: string, body: unknown): Promise<string[]> {
  const answer = await running.api.request(method, path, hostileJson(body), JSON_BODY);
  expect([answer.text, answer.status, answer.body.code]).toEqual([answer.text, 400, "BAD_USER_INPUT"]);
  return (answer.body.details as { path: string }[]).map(({ path }) => path).sort();
}
const patch = (kind: string, body: unknown) => wrongPaths("PATCH", `${ASSISTANTS}/${id}/${kind}`, body);
const create = (body: unknown) => wrongPaths("POST", ASSISTANTS, body);

describe("free-form objects", () => {
  const nested = (levels: number) =>
    JSON.parse('{"a":'.repeat(levels - 1) + "{}" + "}".repeat(levels - 1)) as unknown;
  const own = (key: string) => Object.fromEntries([[key, { polluted: true }]]);

  test("are accepted up to 32 levels deep", async () => {
    await running.api.patch(`${ASSISTANTS}/${id}`, { variables: nested(32) }, 200);
    expect(await create({ name: "A", variables: nested(33) })).toEqual(["variables"]);
    expect(await create({ name: "A", variables: "@deep object@" })).toEqual(["variables"]);
    expect(await patch("chat", { functions: "@deep list@" })).toEqual(["functions.0"]);
    expect(await create("@deep object@")).toEqual(["a", "name"]);
  });

  test("may not contain __proto__ at any level, numbers out of range, or too many values", async () => {
    expect(await create({ name: "A", variables: own("__proto__") })).toEqual(["variables"]);
    expect(await create({ name: "A", variables: { a: [own("__proto__")] } })).toEqual(["variables"]);
    expect(await create({ ...own("__proto__"), name: "A" })).toEqual(["__proto__"]);
    expect(await create({ name: "A", variables: { a: "@1e999@" } })).toEqual(["variables"]);
    expect(await create({ name: "A", variables: "@many keys@" })).toEqual(["variables"]);
    expect(await create({ name: "A", variables: { a: "@too much@" } })).toEqual(["variables"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("a body with 100,000 invalid fields is rejected without listing all of them", async () => {
    const body = `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":1`).join(",")}}`;
    const answer = await running.api.request("POST", ASSISTANTS, body, JSON_BODY);
    expect(answer.status).toBe(400);
    expect(answer.body.details.length).toBeLessThanOrEqual(50);
  });

  test("functions are returned exactly as they were sent, with the same order of keys", async () => {
    const functions = '[{"z":1,"a":{"y":[1,null,"é"],"b":{}},"name":"f","description":""},{},{"b":1,"a":2}]';
    const { text } = await running.api.request(
      "PATCH",
      `${ASSISTANTS}/${id}/sms`,
      `{"functions":${functions}}`,
      JSON_BODY,
    );
    expect(text).toContain(`"functions":${functions}`);
    const read = await running.api.request("GET", `${ASSISTANTS}/${id}/sms`);
    expect(read.text).toContain(`"functions":${functions}`);
  });
});
