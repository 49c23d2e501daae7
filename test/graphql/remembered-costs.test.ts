import { expect, test } from "@jest/globals";
import { parse } from "graphql";
import { DocumentCost } from "../../src/http/graphql/document-cost";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";

const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const NODES = parse("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }");

/** Characters by which the results of a document are remembered. */
const remembered = (cost: DocumentCost): number =>
  [...(cost as unknown as { known: Map<string, unknown> }).known.keys()].join("").length; // private: nobody else needs them

test("the cost of a document is remembered without the values that clients send", () => {
  const cost = new DocumentCost(schema, NODES);
  for (let sent = 0; sent < 50; sent++) {
    const id = `${sent} ${"x".repeat(100_000)}`;
    expect(cost.of({ ids: id }).cost?.requested).toBe(1);
    expect(cost.of({ ids: [id, id, id] }).cost?.requested).toBe(3);
  }
  expect(remembered(cost)).toBeLessThan(1_000);
});
