import { rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { CompiledRoute } from "../../rest-compat/compile";
import { routes } from "../../rest-compat/routes/index";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import { OpenApi } from "../support/openapi";
import { Bijection } from "./bijection";
import { certificateOf } from "./compose";
import { COUNTERPARTS } from "./counterparts";
import { compareDeliveries, type DeliveryResult } from "./deliveries";
import { Documents } from "./document";
import { OperationRunner, type OperationResult } from "./operations";
import { RowRunner, type RowResult } from "./rows";
import { seedOf, type Seed } from "./seed";
import { startSides, type Sides } from "./sides";

const { schema, rows } = compileInterfaces(loadCatalog(), readConfig({}));

/** REST rows by the root field of GraphQL that does the same. */
const rowsOf = new Map<string, string[]>();
for (const [row, counterpart] of Object.entries(COUNTERPARTS))
  if (typeof counterpart !== "string") {
    const [field] = counterpart.levels[0]!;
    rowsOf.set(field, [...(rowsOf.get(field) ?? []), row]);
  }
const alone = Object.keys(schema.getMutationType()!.getFields()).filter((name) => !rowsOf.has(name));

let sides: Sides<Seed>;
let documents: Documents;
let bijection: Bijection;

beforeAll(async () => {
  // After a failure there is none, rather than an old one.
  if (process.env.CERTIFICATE) rmSync(process.env.CERTIFICATE, { force: true });
  sides = await startSides((app) => seedOf(app, alone));
  bijection = new Bijection(); // times before are of the seed
  documents = new Documents(schema, new OpenApi(await sides.rest.api.get("/rest/openapi.json", 200)));
});
afterAll(() => sides.stop());

const found = (results: readonly (RowResult | OperationResult)[]) =>
  results.flatMap((result) =>
    result.differences.map(
      (difference) => `${"row" in result ? result.row : result.operation}: ${difference}`,
    ),
  );
const done = { rows: [] as RowResult[], operations: [] as OperationResult[] };

/** Test titles are in the order of the parts, which depend on one another. */
describe("on two servers with the same data", () => {
  test("every operation without a REST row does the same, and other operations read its results", async () => {
    const runner = new OperationRunner(schema, sides, bijection);
    for (const operation of runner.operations)
      done.operations.push(await runner.run(operation, rowsOf.get(operation.name) ?? []));
    expect(found(done.operations)).toEqual([]);
    expect(done.operations.length).toBeGreaterThan(100);
  });

  test("every REST row does the same as its counterpart in GraphQL", async () => {
    const runner = new RowRunner(sides, documents, bijection);
    for (const row of rows) done.rows.push(await runner.run(row));
    expect(found(done.rows)).toEqual([]);
    expect(done.rows.map(({ row }) => row)).toEqual(routes.map(({ id }) => id));
    expect(done.rows.filter(({ cases }) => cases > 0).length).toBeGreaterThan(40);
  });

  test("a row that was changed on purpose differs, and so does the certificate", async () => {
    const changed = await resultsOf(CHANGED);
    expect(changed.map(({ row, differences }) => [row, differences.length > 0]).sort()).toEqual(
      Object.keys(CHANGED)
        .sort()
        .map((id) => [id, true]),
    );
    expect(found(changed).join("\n")).toMatch(/^getOrganization: valid: value\.id: "https:.*, and "/m);
    const deliveries: DeliveryResult = { deliveries: 0, differences: [] };
    const certified = done.rows.filter(({ row }) => row in CHANGED);
    const good = certificateOf({ operations: [], deliveries, rows: certified });
    const bad = certificateOf({ operations: [], deliveries, rows: changed });
    expect([good.identical, bad.identical]).toEqual([true, false]);
    expect(bad.digests.results).not.toBe(good.digests.results);
  });

  test("a row without a counterpart is missing", async () => {
    const unknown = { ...rows[0]!, id: "another" };
    const { differences } = await new RowRunner(sides, documents, bijection).run(unknown);
    expect(differences).toEqual(["test/certificate/counterparts.ts lacks this row"]);
  });

  test("the same events arrive at webhook destinations, in the same order in each conversation", async () => {
    const deliveries = await compareDeliveries(sides, bijection);
    expect(deliveries.differences).toEqual([]);
    expect(deliveries.deliveries).toBeGreaterThan(20);
    const certificate = certificateOf({ ...done, deliveries });
    expect(certificate).toMatchObject({ identical: true, version: expect.any(String) });
    if (process.env.CERTIFICATE)
      writeFileSync(process.env.CERTIFICATE, `${JSON.stringify(certificate, null, 2)}\n`);
  });
});

/** Mistakes in documents that GraphQL's validation accepts. */
const CHANGED: Readonly<Record<string, readonly [right: string, wrong: string]>> = {
  getOrganization: ["id analyticUrl", "id: analyticUrl analyticUrl: id"],
  listTemplates: ["result: assistantTemplates", "result: assistants"],
  listFiles: ["order: $order, page: $page, take: $take", "order: $order, page: $take, take: $page"],
};

/** Results of rows after a change of their documents, from another server on the data of REST. */
async function resultsOf(changes: typeof CHANGED): Promise<RowResult[]> {
  const originals = routes
    .filter(({ id }) => id in changes)
    .map((route) => ({ route, document: route.document! }));
  const set = (route: object, document: string) => Object.assign(route, { document });
  for (const { route, document } of originals) set(route, document.replace(...changes[route.id]!));
  // Interfaces are compiled anew for other segments of paths.
  const app = await sides.rest.serve({ TELEPHONY_PROVIDER: "changed" }).finally(() => {
    for (const { route, document } of originals) set(route, document);
  });
  const rest = { ...sides.rest, api: app.api };
  const runner = new RowRunner({ ...sides, rest }, documents, bijection);
  const results: RowResult[] = [];
  for (const row of rows.filter(({ id }) => id in changes))
    results.push(await runner.run(row as CompiledRoute));
  await app.stop();
  return results;
}
