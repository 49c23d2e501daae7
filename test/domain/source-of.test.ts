import fs from "node:fs";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import { serializeError } from "../../src/platform/logger";
import { ROOT } from "../../src/platform/root";

test("an error whose sources cannot be read is logged with the stack that it has, and later with its sources", () => {
  const bundle = join(ROOT, "dist/bundle/own.cjs");
  const line = fs.readFileSync(bundle, "utf8").split("\n").indexOf("// dist/src/platform/source-of.js") + 3;
  const error = new Error("no connection");
  error.stack = `Error: no connection\n    at open (${bundle}:${line}:7)`;
  const isFull = jest.spyOn(fs, "readFileSync").mockImplementation(() => {
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  });
  expect(serializeError(error)).toMatchObject({ stack: error.stack });
  isFull.mockRestore();
  expect(serializeError(error)).toMatchObject({
    stack: `Error: no connection\n    at open (src/platform/source-of.ts, ${bundle}:${line}:7)`,
  });
});
