import { beforeAll, describe, expect, test } from "@jest/globals";
import { routes } from "../../rest-compat/routes/index";
import { useApp } from "../support/app";
import { exampleOf, pathOf } from "../support/examples";
import { swapsOf } from "../support/swaps";
import { buildWorld, type World } from "../support/world";

const running = useApp();
let world: World;
beforeAll(async () => {
  world = await buildWorld(running.api);
});
const lists = (path: string) => running.api.request("GET", path);
const warningOf = async (query: string) =>
  (await lists(`/rest/v1/assistants?${query}`)).headers.get("warning");

describe("an unknown query parameter", () => {
  test.each([
    ["tke=5", "The query parameter tke is unknown and was ignored. Did you mean take?"],
    ["Take=5", "The query parameter Take is unknown and was ignored. Did you mean take?"],
    ["limit=5", "The query parameter limit is unknown and was ignored. This path takes order, page, take."],
  ])("%s is named with the nearest known one", async (query, text) => {
    expect(await warningOf(query)).toBe(`299 parley "${text}"`);
  });

  test.each(["page", "take", "order"].flatMap((name) => swapsOf(name).map((swapped) => [swapped, name])))(
    "%s, with swapped letters, is named with %s",
    async (swapped, name) => expect(await warningOf(`${swapped}=1`)).toContain(`Did you mean ${name}?`),
  );

  test("is ignored: the known ones apply", async () => {
    const { status, body } = await lists("/rest/v1/assistants?tke=7&take=1");
    expect([status, body.meta.take]).toEqual([200, 1]);
  });

  test("is named with an error, too", async () => {
    const answer = await lists("/rest/v1/assistants?pge=2&take=0");
    expect([answer.status, answer.headers.get("warning")]).toEqual([400, expect.stringContaining("page")]);
  });

  test.each(["take=5&page=1&order=asc", ""])("is not mentioned in %j, which has none", async (query) => {
    expect(await warningOf(query)).toBeNull();
  });

  test.each([
    'a"b\\c=1',
    "%C3%BC%F0%9F%98%80=1",
    "%0d%0aSet-Cookie:x=1",
    "__proto__=1",
    `${"x".repeat(5000)}=1`,
  ])("with the name %j gives a valid header", async (query) => {
    const answer = await lists(`/rest/v1/assistants?${query}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("warning")).toMatch(/^299 parley "The query parameter [\x20-\x7e]{1,150}"$/);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test("is counted beyond the fifth", async () => {
    const query = Array.from({ length: 100 }, (_, index) => `unknown${index}=1`).join("&");
    expect(await warningOf(query)).toContain("95 more query parameters are unknown");
  });

  test.each(routes)("of $method $path is named", async (route) => {
    const { params = {}, query } = exampleOf(route.id)(world);
    const path = pathOf(route, { params, query: { ...query, unknowable: "1" } });
    const answer = await running.api.request(route.method.toUpperCase(), path, undefined);
    expect(answer.headers.get("warning")).toContain("The query parameter unknowable is unknown");
    expect(answer.headers.get("warning")!.match(/299 parley/g)).toHaveLength(1);
  });
});
