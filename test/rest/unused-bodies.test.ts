import { afterAll, describe, expect, test } from "@jest/globals";
import { readConfig } from "../../src/platform/settings/config";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { compileInterfaces } from "../../src/start/app";
import { useApp } from "../support/app";
import { exampleOf, pathOf, send } from "../support/examples";
import { closeRaw, rawRequest } from "../support/raw";
import { worlds } from "../support/world";

const running = useApp();
const another = worlds(() => running.api);
afterAll(closeRaw);

const { rows } = compileInterfaces(loadCatalog(), readConfig({}));
const withoutBody = rows.filter(({ operation, body }) => operation && !operation.input && body === undefined);
const ignoring = (name: string) => `299 parley "The field ${name} was ignored: this path takes no body."`;

describe.each(withoutBody)("a body on $method $path, which takes none,", (route) => {
  const path = async () => pathOf(route, exampleOf(route.id)(await another(exampleOf(route.id))));
  const request = async (body: string, type = "application/json") =>
    rawRequest(running.url, {
      method: route.method.toUpperCase(),
      path: await path(),
      headers: {
        "X-API-Key": running.secretKey,
        "Content-Type": type,
        "Content-Length": String(body.length),
      },
      body,
    });

  test("has no effect, and a Warning names its fields", async () => {
    const answer = await request(JSON.stringify({ name: "Mine", reason: "done" }));
    expect([answer.text, answer.status]).toEqual([answer.text, route.success]);
    expect(answer.headers.warning).toBe([ignoring("name"), ignoring("reason")].join(", "));
  });

  test.each([
    ["is not JSON", "name=Mine", "application/x-www-form-urlencoded"],
    ["is a list", "[1]", "application/json"],
    ["is longer than 64 KiB", JSON.stringify({ name: "x".repeat(70_000) }), "application/json"],
  ])("causes a Warning if it %s", async (_, body, type) => {
    const answer = await request(body, type);
    expect([answer.text, answer.status]).toEqual([answer.text, route.success]);
    expect(answer.headers.warning).toBe('299 parley "The body was ignored: this path takes none."');
  });

  test("causes no Warning if it is empty", async () => {
    const example = exampleOf(route.id);
    const call = example(await another(example));
    expect((await send(running.api, route, call)).headers.get("warning")).toBeNull();
    expect((await request("{}")).headers).not.toHaveProperty("warning");
  });
});

test("names at most five fields of a body that has no effect", async () => {
  const { id } = await running.api.post("/rest/v1/assistants", { name: "Ada" }, 200);
  const body = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`f${index}`, 1]));
  const { headers } = await running.api.request("POST", `/rest/v1/assistants/duplicate/${id}`, body);
  expect(headers.get("warning")).toBe(
    [...["f0", "f1", "f2", "f3", "f4"].map(ignoring), '299 parley "2 more fields were ignored."'].join(", "),
  );
});
