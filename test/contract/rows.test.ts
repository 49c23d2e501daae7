import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { describeTables } from "../../src/platform/database/tables/describe-tables";
import { newId } from "../../src/platform/database/values/ids";
import { useApp } from "../support/app";

const running = useApp();

const FILE = "src/platform/database/tables/tables.generated.ts";

describe("the row types", () => {
  test("match the migrated database; otherwise run `npm run rows`", async () => {
    const described = await describeTables((text) => running.database.query(text));
    expect(readFileSync(FILE, "utf8")).toBe(described);
  });

  test("list the values that a check allows, and mark nullable and optional columns", () => {
    const text = readFileSync(FILE, "utf8");
    expect(text).toContain('kind: Column<"PHONE" | "WEB">;');
    expect(text).toContain("endedAt: NullableColumn<Date>;");
    expect(text).toContain("messageCount: ColumnWithDefault<number>;");
  });

  test("are refused for a column type without a TypeScript type", async () => {
    const column = {
      table: "t",
      column: "c",
      type: "point",
      isNullable: false,
      hasDefault: false,
      checks: "",
    };
    await expect(describeTables(() => Promise.resolve([column]))).rejects.toThrow(
      "No TypeScript type for point of t.c.",
    );
  });
});

/** Each statement is invalid for the compiler (see `npm run typecheck`) and for the database. */
describe("an invalid row does not compile", () => {
  const scope = async () => {
    const { id } = await running.api.get("/rest/v1/organization", 200);
    return running.app.database.scope(id as string);
  };

  test("if a column is missing", async () => {
    // @ts-expect-error: a project has a name
    await expect((await scope()).insert("projects", { id: newId() })).rejects.toThrow("null value");
  });

  test("if a value is not allowed", async () => {
    const row = { id: newId(), kind: "NONE", sealedTarget: "" } as const;
    // @ts-expect-error: the kind is not allowed
    await expect((await scope()).insert("provider_erasures", row)).rejects.toThrow("check constraint");
  });

  test("if a column does not exist", async () => {
    const projects = (await scope()).table("projects");
    // @ts-expect-error: projects have no color
    await expect(projects.update({ color: "red" })).rejects.toThrow('column "color"');
  });
});
