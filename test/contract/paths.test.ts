import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { routes } from "../../rest-compat/routes/index";
import { useApp } from "../support/app";
import { expectError, expectOpenToAnyOrigin } from "../support/errors";
import { exampleOf, pathOf, send } from "../support/examples";
import { OpenApi } from "../support/openapi";
import { unknownWorld } from "../support/world";

const running = useApp({ MAX_FILE_BYTES: "1000" });

let openApi: OpenApi;
beforeAll(async () => {
  openApi = new OpenApi(await running.api.get("/rest/openapi.json", 200));
});

const ROOT = join(__dirname, "../..");

const VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
/** The methods of each path, as Allow lists them. */
const paths = [...new Set(routes.map((route) => pathOf(route)))].map((path) => {
  const rows = routes.filter((route) => pathOf(route) === path);
  const methods = rows.map(({ method }) => method.toUpperCase());
  return { path, allow: [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].sort() };
});
const listed = (header: string | null) => header?.split(/, */).sort();

describe.each(paths)("$path", ({ path, allow }) => {
  test.each(VERBS.filter((verb) => !allow.includes(verb)))("answers 405 to %s", async (verb) => {
    const answer = await running.api.request(verb, path);
    expectError(answer, 405, "METHOD_NOT_ALLOWED");
    expect(listed(answer.headers.get("allow"))).toEqual(allow);
  });

  test("answers a preflight request", async () => {
    const answer = await running.api.as({ Origin: "https://example.com" }).request("OPTIONS", path);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(listed(answer.headers.get("allow"))).toEqual(allow);
    const methods = listed(answer.headers.get("access-control-allow-methods"));
    expect(methods).toEqual(path.startsWith("/rest/") ? allow : undefined);
    if (!path.startsWith("/rest/")) return;
    expectOpenToAnyOrigin(answer);
    expect(answer.headers.get("access-control-max-age")).toBe("86400");
  });
});

describe("a path that is not a REST route", () => {
  const readOnly = [
    ...["/", "/docs", "/docs/import", "/rest/docs", "/rest/openapi.json", "/analytics", "/favicon.ico"],
    ...["/certificate", "/certificate.json", "/events/asyncapi.json", "/events/schemas/session-start/1"],
    ...["/schemas/assistant.json", "/health/live", "/health/ready", "/metrics"],
    ...["/files/some/file", "/exports/some/export"],
    ...["/widget/companion-widget.js", "/widget/frame", "/widget/voice", "/widget/demo"],
    ...["/simulator/recordings/some-call.wav", "/assets/explorer/some/file", "/assets/docs/some/file"],
    ...["/assets/analytics/some/file", "/docs/assets/some/file", "/widget/assets/some/file"],
  ];

  test("is in the list of these tests if it supports only GET", () => {
    const sources = ["src/http", "src/start"].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => readFileSync(join(ROOT, folder, name), "utf8")),
    );
    const PAGE = /\b(?:router|app)\.(?:get\(\s*"([^"]+)"|use\(\s*"([^"]+)", assets\()/g;
    const served = sources.flatMap((text) =>
      [...text.matchAll(PAGE)].map(([, page, folder]) => page ?? `${folder}/`),
    );
    expect(served.length).toBeGreaterThan(18);
    const shows = (path: string) => {
      const pattern = path.replace(/[.]/g, "\\.").replace(/:\w+/g, "[^/]+");
      return [...readOnly, "/graphql"].some((one) =>
        new RegExp(`^${pattern}${path.endsWith("/") && path !== "/" ? "" : "$"}`).test(one),
      );
    };
    expect(served.filter((path) => !shows(path))).toEqual([]);
  });

  test("the path that makes the assistant of the demo supports only POST", async () => {
    const path = "/widget/demo/assistant";
    for (const verb of ["GET", "PUT", "DELETE", "OPTIONS"]) {
      const { status, headers } = await running.api.request(verb, path);
      expect([verb, status, listed(headers.get("allow"))]).toEqual([
        verb,
        verb === "OPTIONS" ? 204 : 405,
        ["OPTIONS", "POST"],
      ]);
    }
  });

  test.each(readOnly)("%s answers 405 to unsupported methods", async (path) => {
    for (const verb of ["POST", "DELETE"]) {
      const answer = await running.api.request(verb, path);
      expectError(answer, 405, "METHOD_NOT_ALLOWED");
      expect(listed(answer.headers.get("allow"))).toEqual(["GET", "HEAD", "OPTIONS"]);
    }
  });

  test.each(readOnly)(
    "%s answers OPTIONS, with CORS headers only if it allows other origins",
    async (path) => {
      const answer = await running.api.as({ Origin: "https://example.com" }).request("OPTIONS", path);
      expect([answer.status, answer.text]).toEqual([204, ""]);
      const methods = ["GET", "HEAD", "OPTIONS"];
      expect(listed(answer.headers.get("allow"))).toEqual(methods);
      const allowed = listed(answer.headers.get("access-control-allow-methods"));
      expect(allowed).toEqual(path.startsWith("/rest/") ? methods : undefined);
      expect(answer.headers.has("access-control-allow-origin")).toBe(path.startsWith("/rest/"));
    },
  );

  test.each(["/docs/unknown", "/schemas/unknown.json"])("%s is not found", async (path) => {
    expectError(await running.api.request("GET", path), 404, "NOT_FOUND");
  });

  test.each(["/graphql", "/graphql/"])("%s answers a preflight request", async (path) => {
    const answer = await running.api.as({ Origin: "https://example.com" }).request("OPTIONS", path);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    for (const name of ["allow", "access-control-allow-methods"])
      expect(listed(answer.headers.get(name))).toEqual(["GET", "OPTIONS", "POST"]);
    expectOpenToAnyOrigin(answer);
    expect(answer.headers.get("access-control-max-age")).toBe("86400");
    expect(listed(answer.headers.get("access-control-allow-headers"))).toEqual(
      expect.arrayContaining(["If-Match", "If-None-Match", "traceparent"]),
    );
  });
});

const withBody = routes.filter(
  ({ id, document, body }) => document !== undefined && (body ?? exampleOf(id)(unknownWorld()).body),
);
const tooMuch = Buffer.alloc(8 * 1024 * 1024 + 1, " ");

describe.each(withBody)("the body of $method $path", (route) => {
  const call = exampleOf(route.id)(unknownWorld());
  const path = pathOf(route, call);
  const method = route.method.toUpperCase();
  const multipart = route.body === "multipart";

  test("is refused with 415 in another format", async () => {
    const type = multipart ? "application/json" : "text/plain";
    const answer = await running.api.request(method, path, "{}", { "Content-Type": type });
    expectError(answer, 415, "UNSUPPORTED_MEDIA_TYPE");
    expect(openApi.answerProblems(route.id, 415, answer.body)).toEqual([]);
    expectOpenToAnyOrigin(answer);
  });

  test("is refused with 413 if it is too large", async () => {
    const answer = multipart
      ? await send(running.api, route, { form: { name: "a.txt", content: "a".repeat(1001), metadata: {} } })
      : await running.api.request(method, path, tooMuch, { "Content-Type": "application/json" });
    expectError(answer, 413, "PAYLOAD_TOO_LARGE");
    expect(openApi.answerProblems(route.id, 413, answer.body)).toEqual([]);
    expectOpenToAnyOrigin(answer);
  });

  test("is refused with 400 if it is malformed, with the reason", async () => {
    const type = multipart ? "multipart/form-data; boundary=x" : "application/json";
    const answer = await running.api.request(method, path, "{", { "Content-Type": type });
    expectError(answer, 400, "BAD_USER_INPUT");
    expect(answer.body.details).not.toEqual([]);
    expect(openApi.answerProblems(route.id, 400, answer.body)).toEqual([]);
    expectOpenToAnyOrigin(answer);
  });

  test("is refused with 400 naming an unknown field", async () => {
    if (multipart) {
      const form = new FormData();
      form.set("attachment", new File(["a"], "a.txt"));
      const answer = await running.api.request(method, path, form);
      expectError(answer, 400, "BAD_USER_INPUT");
      expect(answer.body.message).toContain("attachment");
      return;
    }
    const answer = await send(running.api, route, { ...call, body: { ...call.body, surprise: 1 } });
    expectError(answer, 400, "BAD_USER_INPUT");
    expect(answer.body.details).toContainEqual({
      path: "surprise",
      message: expect.stringMatching(/^is not a known field/),
    });
  });
});

describe("an unknown path", () => {
  test.each([
    "/rest",
    "/rest/v1",
    "/rest/v1/nothing",
    "/rest/v1/assistants/some-id/nothing",
    "/rest/v1/assistants//chat",
    "/rest/v1/files/some-id/nothing",
    "/rest/v2/assistants",
    "/rest/v1/webhooks/another-engine/server-messages",
    "/REST/v1/nothing?x=%00",
  ])("%s is answered with 404 in JSON, whatever the method", async (path) => {
    for (const verb of VERBS) expectError(await running.api.request(verb, path), 404, "NOT_FOUND");
  });

  test("can be read by any page, like every answer", async () => {
    expectOpenToAnyOrigin(await running.api.request("GET", "/rest/v1/nothing"));
  });
});
