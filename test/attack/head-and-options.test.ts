import { beforeAll, describe, expect, test } from "@jest/globals";
import { routes } from "../../rest-compat/routes/index";
import { useApp } from "../support/app";
import { exampleOf, pathOf } from "../support/examples";
import { rawHead } from "../support/raw";
import { rows } from "../support/suite";
import { buildWorld, type World } from "../support/world";

const running = useApp({ OPEN_SETTINGS: "false" });
let world: World;
const credentials: Record<string, readonly string[]> = { none: [], "wrong key": ["X-API-Key: parley_sk_x"] };

beforeAll(async () => {
  const { api } = running;
  world = await buildWorld(api);
  const { token } = await api.post("/rest/v1/organization/token", { userId: "ada" }, 200);
  Object.assign(credentials, {
    "SECRET key": [`X-API-Key: ${running.secretKey}`],
    "PUBLIC key": [`X-API-Key: ${running.publicKey}`],
    "token of a user": [`Authorization: Bearer ${token}`],
    "visitor's session": [`Authorization: Bearer ${world.visitorToken}`],
  });
});

const ask = (method: string, path: string, headers: readonly string[]) =>
  rawHead(running.url, `${method} ${path}`, [`Host: ${new URL(running.url).host}`, ...headers]);

/** Paths of routes, each with a function that fills in ids. */
const ofRest = [...new Map(routes.map((route) => [pathOf(route), route])).values()].map((route) => ({
  path: route.path,
  to: () => pathOf(route, exampleOf(route.id)(world)),
}));
const OTHERS = [
  "/",
  "/docs",
  "/rest/docs",
  "/rest/openapi.json",
  "/events/asyncapi.json",
  "/analytics",
  "/certificate",
  "/events/schemas/session-start/1",
  "/health/live",
  "/health/ready",
  "/metrics",
  "/graphql",
  "/mcp",
  "/files/some/file",
  "/exports/some/export",
  "/widget/chat",
  "/widget.js",
  "/nothing",
  "/rest/v1/nothing",
].map((path) => ({ path, to: () => path }));

const each = rows([...ofRest, ...OTHERS], 20);
describe(`${each.title} paths`, () => {
  test.each(each.rows)(
    "$path answers HEAD like GET with every credential, without a body",
    async ({ to }) => {
      const path = to();
      for (const [name, headers] of Object.entries(credentials)) {
        const [get, head] = [await ask("GET", path, headers), await ask("HEAD", path, headers)];
        expect([name, head.body]).toEqual([name, ""]);
        if (path === "/graphql" && head.status === 405) {
          expect(head.headers).toMatch(/\r\nallow: get, post\r\n/);
          continue; // its Allow lists no HEAD
        }
        expect([name, head.status]).toEqual([name, get.status]);
        const typeOf = ({ headers }: { headers: string }) => /\r\ncontent-type: [^\r]*/.exec(headers)?.[0];
        expect([name, typeOf(head)]).toEqual([name, typeOf(get)]);
        expect(get.status).toBeLessThan(500);
      }
    },
  );

  test.each(each.rows)("$path answers OPTIONS the same to every credential", async ({ to }) => {
    const answers: unknown[] = [];
    for (const headers of Object.values(credentials)) {
      const {
        status,
        body,
        headers: sent,
      } = await ask("OPTIONS", to(), ["Origin: https://a.example", ...headers]);
      expect(status).toBeLessThan(500);
      if (status < 400) expect(body).toBe("");
      const named = sent.match(/\r\n(allow|access-control-[\w-]+): [^\r]*/g);
      answers.push([status, named]);
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });
});
