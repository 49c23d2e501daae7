import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";

const running = useApp();
const withModel = useApp({ MODEL_NAME: "own-model", MODEL_BASE_URL: "http://127.0.0.1:9/v1" });
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const get = (path: string, accept = BROWSER, method = "GET") =>
  running.api.request(method, path, undefined, { Accept: accept });

describe("the start page", () => {
  test("shows browsers what the server does, what is set up, and links to every page", async () => {
    const { status, headers, text } = await get("/");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("vary")).toMatch(/Accept/);
    for (const part of ["Answers", "looked up locally", "Calls", "simulated"]) expect(text).toContain(part);
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!);
    expect(links).toEqual(["/docs", "/graphql", "/rest/docs", "/widget/demo", "/analytics"]);
  });

  test("names the model that answers, without the address of its server", async () => {
    const start = () => withModel.api.request("GET", "/", undefined, { Accept: BROWSER });
    const { text } = await start();
    expect(text).toContain("<dt>Answers</dt><dd>written by own-model</dd>");
    expect(text).not.toContain("127.0.0.1");
    const mapping = `mutation { setModelMapping(input: { model: GPT_4_O, name: "other", baseUrl: "http://127.0.0.1:9/v1" }) { name } }`;
    await withModel.api.gql(mapping);
    expect((await start()).text).toContain("<dd>written by several models</dd>");
  });

  test.each(["application/json", "*/*"])("is JSON for programs: %s", async (accept) => {
    const { status, body } = await get("/", accept);
    expect([status, body.graphql, body.rest]).toEqual([200, "/graphql", "/rest/v1"]);
  });

  test("runs no script, and its style is allowed by its hash", async () => {
    const { headers } = await get("/");
    expect(headers.get("content-security-policy")).toMatch(/script-src 'none'.*style-src 'sha256-/);
    expect(headers.get("content-security-policy")).not.toContain("unsafe");
  });
});

test("the name of a source file leads to its page of the documentation", async () => {
  const answer = await fetch(`${running.url}/docs/text-chats.md`, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([301, "/docs/text-chats"]);
  expect((await get("/docs/nothing.md")).status).toBe(404);
});

describe("an HTTP error", () => {
  test("links to the pages that its message names, and to nothing from the path", async () => {
    const { text } = await get("/docs/nope-/docs");
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!);
    expect(links).toEqual(["/rest/docs", "/docs", "/"]);
  });

  const rows: [string, string, number][] = [
    ["GET", "/nothing/<script>alert(1)</script>", 404],
    ["POST", "/", 405],
    ["GET", "/files/none/none", 404],
    ["GET", "/%E0%A4%A", 400],
  ];
  test.each(rows)("is a page for browsers: %s %s", async (method, path) => {
    const json = await get(path, "application/json", method);
    const page = await get(path, BROWSER, method);
    expect(page.status).toBe(json.status);
    expect(json.body).toMatchObject({ statusCode: json.status, code: expect.any(String) });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("x-request-id")).toEqual(expect.any(String));
    expect(page.text).toContain(`code <code>${json.body.code}</code>`);
    expect(page.text).not.toContain("<script");
  });

  test.each(["/rest", "/rest/v1/nothing", "/graphql/nothing"])("stays JSON on %s", async (path) => {
    const { headers } = await get(path);
    expect(headers.get("content-type")).toMatch(/json/);
  });
});
