import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { admit } from "../../schema/core/access";
import { AUTHORIZATION, authorize } from "../../schema/core/authorization";
import type { Caller } from "../../src/account/auth/caller";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";

const page = readFileSync(join(__dirname, "../../docs/tokens.md"), "utf8");
const TOKEN: Caller = { organizationId: "", kind: "TOKEN" };
const USER_TOKEN: Caller = { ...TOKEN, userId: "customer-42" };
const allows = (check: () => void): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};

/** The table of the page: paths with the rights of both tokens, longest path first. */
const table = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => {
    const [, paths, ...rights] = line.split("|").map((cell) => cell.trim());
    const named = [...paths!.matchAll(/`(.+?)`/g)].map(([, path]) => path!);
    return named.map((path) => ({ path, rights: rights.slice(0, 2) }));
  })
  .sort((a, b) => b.path.length - a.path.length);

describe("the page about tokens", () => {
  const { rows } = compileInterfaces(loadCatalog(), readConfig({}));
  const checked = rows.filter(({ operation, auth }) => operation && auth !== "none");

  test.each(checked)("says which tokens may use $method $path", ({ path, operation }) => {
    const documented = table.find((row) => path === row.path || path.startsWith(`${row.path}/`));
    const real = [TOKEN, USER_TOKEN].map((caller) => allows(() => admit(operation!.access, caller)));
    expect(documented?.rights).toEqual(real.map((right) => (right ? "yes" : "no")));
  });

  test("lists the GraphQL operations of a token with userId", () => {
    const list = page.slice(page.indexOf("\n- assistants:"));
    const listed = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    const real = Object.entries(AUTHORIZATION).filter(([, rule]) =>
      allows(() => authorize(rule, USER_TOKEN)),
    );
    expect(listed.toSorted()).toEqual(real.map(([name]) => name).toSorted());
  });

  test("says which GraphQL operations a token without userId may not run", () => {
    const refused = Object.values(AUTHORIZATION).filter((rule) => !allows(() => authorize(rule, TOKEN)));
    expect([...new Set(refused)].toSorted()).toEqual(["key", "visitor"]);
  });
});
