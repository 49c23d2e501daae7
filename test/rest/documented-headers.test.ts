import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readConfig } from "../../src/platform/settings/config";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { compileInterfaces } from "../../src/start/app";
import type { CompiledRoute } from "../../rest-compat/compile";
import { useApp } from "../support/app";
import { exampleOf, pathOf, send } from "../support/examples";
import { OpenApi } from "../support/openapi";
import { closeRaw, rawRequest } from "../support/raw";
import { unknownWorld, worlds } from "../support/world";

const running = useApp({
  TRUST_PROXY: "127.0.0.1",
  RATE_LIMIT_CREDENTIAL: "2",
  RATE_LIMIT_ANONYMOUS: "1",
  RATE_LIMIT_CALLBACK: "1",
});
const another = worlds(() => running.api);
afterAll(closeRaw);

const { rows } = compileInterfaces(loadCatalog(), readConfig({}));
let openApi: OpenApi;
/** Headers that pages of other origins may read, and the one of HTTP authentication: the others are those of the server. */
let own: readonly string[];
beforeAll(async () => {
  const { headers, body } = await running.api.request("GET", "/rest/openapi.json");
  openApi = new OpenApi(body);
  own = [...headers.get("access-control-expose-headers")!.split(", "), "WWW-Authenticate"];
});

interface Sent {
  readonly status: number;
  readonly names: readonly string[];
}
const sentBy = (status: number, has: (name: string) => boolean): Sent => ({
  status,
  names: own.filter((name) => has(name)),
});
const documented = ({ id }: CompiledRoute, status: number) =>
  Object.keys(openApi.operation(id).responses[status]?.headers ?? {});
const expectDocumented = (route: CompiledRoute, { status, names }: Sent) =>
  expect(documented(route, status)).toEqual(expect.arrayContaining([...names]));

describe.each(rows)("the headers that $method $path sends are documented", (route) => {
  const example = exampleOf(route.id);
  const isOperation = route.operation !== undefined;

  test("with a success, also one that is repeated with its Idempotency-Key", async () => {
    const call = example(await another(example));
    const query = { ...call.query, unknown: "1" };
    const headers = { "Idempotency-Key": `headers of ${route.id}` };
    for (let count = 0; count < (route.method === "post" && isOperation ? 2 : 1); count++) {
      const answer = await send(running.api, route, { ...call, query }, headers);
      const sent = sentBy(answer.status, (name) => answer.headers.has(name));
      expect(sent.names).toEqual(expect.arrayContaining(["X-Request-Id", "Warning"]));
      expect(sent.names.includes("Idempotency-Replayed")).toBe(count === 1);
      if (isOperation) expect(answer.status).toBe(route.success);
      expectDocumented(route, sent);
    }
  });

  test("with errors, also beyond the rate limits", async () => {
    const path = pathOf(route, example(unknownWorld()));
    const method = route.method.toUpperCase();
    const ask = (headers: Record<string, string>) =>
      rawRequest(running.url, { method, path, headers: { "X-Forwarded-For": "203.0.113.7", ...headers } });
    const { secretKey } = await running.otherOrganization();
    const keys = Array.from({ length: 5 }, () => ({ "X-API-Key": secretKey }));
    const answers = await Promise.all([...keys, {}, {}].map(ask));
    for (const { status, headers } of answers)
      expectDocumented(
        route,
        sentBy(status, (name) => name.toLowerCase() in headers),
      );
    if (isOperation) expect(answers.map(({ status }) => status)).toContain(429);
  });
});

test("every documented header is one that the service sends", () => {
  const { components } = openApi.document as unknown as { components: { headers: object } };
  expect(Object.keys(components.headers).toSorted()).toEqual(own.toSorted());
});
