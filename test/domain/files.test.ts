import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { WriteStream } from "fs-capacitor";
import JSZip from "jszip";
import { readable } from "../../schema/files/files";
import { cleanName, cleanType, detectType } from "../../src/assistants/files/describe";

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

describe("the cleaned name of a file", () => {
  test.each([
    ["report.pdf", "report.pdf"],
    ["  two words.txt ", "two words.txt"],
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\ada\\notes.txt", "notes.txt"],
    ["folder/", "file"],
    ["a\u0000b\r\nc\u007f.txt", "abc.txt"],
    ["photo\u202egpj.exe", "photogpj.exe"],
    ["e\u0301te\u0301.txt", "été.txt"],
    ["broken\ud800.txt", "broken\ufffd.txt"],
    ["日本語.pdf", "日本語.pdf"],
    [".env", ".env"],
    ["", "file"],
    [".", "file"],
    ["..", "file"],
    [" \t ", "file"],
  ])("of %j is %j", (sent, shown) => expect(cleanName(sent)).toBe(shown));

  test.each([
    ["letters", `${"x".repeat(400)}.pdf`],
    ["letters of three bytes", `${"日".repeat(200)}.pdf`],
    ["emoji", `${"😀".repeat(100)}.pdf`],
  ])("of many %s is cut to 255 bytes and keeps its extension and whole characters", (_what, sent) => {
    const shown = cleanName(sent);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(255);
    expect(Buffer.byteLength(shown)).toBeGreaterThan(250);
    expect(shown.endsWith(".pdf")).toBe(true);
    expect(shown.isWellFormed()).toBe(true);
    expect(sent.startsWith(shown.slice(0, -4))).toBe(true);
  });

  test("of 255 bytes is unchanged", () => {
    const name = `${"x".repeat(251)}.pdf`;
    expect(cleanName(name)).toBe(name);
  });
});

describe("the declared type of a file", () => {
  test.each([
    ["text/plain", "text/plain"],
    ["Text/HTML; charset=utf-8", "text/html"],
    [" image/svg+xml ", "image/svg+xml"],
    ["application/vnd.ms-excel.sheet.macroEnabled.12", "application/vnd.ms-excel.sheet.macroenabled.12"],
    ["", "application/octet-stream"],
    ["text", "application/octet-stream"],
    ["text/", "application/octet-stream"],
    ["text/plain/more", "application/octet-stream"],
    ["text/pl ain", "application/octet-stream"],
    ["text/plain\r\nSet-Cookie: a=b", "application/octet-stream"],
    [`text/${"x".repeat(200)}`, "application/octet-stream"],
  ])("%j is %j", (sent, type) => expect(cleanType(sent)).toBe(type));
});

describe("the detected type of a file", () => {
  const detect = async (...chunks: (string | Buffer)[]) => {
    const { content, detectedType } = await detectType(
      Readable.from(chunks.map((chunk) => Buffer.from(chunk))),
    );
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part as Buffer);
    expect(Buffer.concat(parts)).toEqual(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))));
    return detectedType();
  };

  test.each([
    ["text", "hello", "text/plain"],
    ["a page", "  <!DOCTYPE html><p>", "text/html"],
    [
      "a page after a declaration and a comment",
      '<?xml version="1.0"?>\n<!-- saved -->\n<html>',
      "text/html",
    ],
    ["other XML", '<?xml version="1.0"?><feed/>', "application/xml"],
    ["a PDF", "%PDF-1.7\n", "application/pdf"],
    ["bytes", Buffer.from([1, 0, 2]), "application/octet-stream"],
    ["broken text", Buffer.from([0x61, 0xff, 0xfe, 0x61]), "application/octet-stream"],
    ["nothing", "", "text/plain"],
  ])("of %s is found, and the content stays complete", async (_what, content, type) => {
    expect(await detect(content)).toBe(type);
  });

  test.each([
    ["of a Word document recognizable only at its end", ["word/document.xml", "[Content_Types].xml"], DOCX],
    ["of a Word document", ["[Content_Types].xml", "word/document.xml"], DOCX],
    ["of any other archive", ["a.txt", "word.xml"], "application/zip"],
  ])("%s is found from its directory", async (_what, names, type) => {
    const zip = new JSZip();
    for (const name of names) zip.file(name, randomBytes(20_000));
    expect(await detect(await zip.generateAsync({ type: "nodebuffer" }))).toBe(type);
  });

  test("is found across chunks, and a long file stays complete", async () => {
    expect(await detect("%P", "DF-", "1.7\n", "x".repeat(100_000), "y".repeat(100_000))).toBe(
      "application/pdf",
    );
    expect(await detect(`${"x".repeat(4_099)}ü`, "more")).toBe("text/plain");
  });
});

test("the copy of an upload whose client has disconnected is not an error of the server", async () => {
  const capacitor = new WriteStream();
  const file = { filename: "a.txt", mimetype: "text/plain", encoding: "7bit", capacitor };
  const upload = readable({ ...file, createReadStream: () => capacitor.createReadStream() });
  const closed = once(capacitor, "close");
  capacitor.end("words");
  await once(capacitor, "finish");
  capacitor.release(); // when the response is closed
  await closed;
  expect(() => upload.createReadStream()).toThrow(
    expect.objectContaining({
      code: "BAD_USER_INPUT",
      message: expect.stringMatching(/connection was closed/),
    }),
  );
});
