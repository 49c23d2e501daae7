import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { detectType } from "../../src/assistants/files/describe";

async function typeOf(text: string): Promise<string> {
  const { content, detectedType } = await detectType(Readable.from([Buffer.from(text)]));
  for await (const _chunk of content);
  return detectedType();
}

describe("the detected type of a text with many comments", () => {
  test.each([
    ["", "text/plain"],
    ["x", "text/plain"],
    ["<html>", "text/html"],
    ["<!-- a --> \n<!doctype html>", "text/html"],
    ["<!-- never closed", "text/plain"],
  ])("is found before %j", async (end, type) => {
    expect(await typeOf("<!---->".repeat(400) + end)).toBe(type);
  });
});
