import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { withDeclaredTypes } from "../../src/http/multipart/declared-types";

const BOUNDARY = "b";
const end = `\r\n--${BOUNDARY}--\r\n`;
const part = (headers: string, content = "x") => `--${BOUNDARY}\r\n${headers}\r\n\r\n${content}`;

/** The types found in a form that arrives in chunks of a length. */
async function typed(body: string, length = body.length): Promise<string> {
  const headers = { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };
  function* pieces() {
    for (let at = 0; at < body.length; at += length) yield Buffer.from(body.slice(at, at + length), "latin1");
  }
  const form = Object.assign(Readable.from(pieces()), { headers }) as unknown as IncomingMessage;
  const chunks: Buffer[] = [];
  for await (const chunk of withDeclaredTypes(form)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}

const FILE = 'Content-Disposition: form-data; name="file"; filename="a.txt"';

describe("the declared type of a form part", () => {
  test.each([
    ["a file without one", FILE, "application/octet-stream"],
    ["a file with a plain one", `${FILE}\r\nContent-Type: text/html`, "text/html"],
    ["a file with parameters", `${FILE}\r\nContent-Type: text/html; charset=utf-8`, "text/html"],
    ["a file with one that cannot be read", `${FILE}\r\nContent-Type: nonsense`, "application/octet-stream"],
    [
      "a file with an extended name",
      "content-disposition: form-data; filename*=utf-8''a",
      "application/octet-stream",
    ],
    [
      "a file with folded headers",
      'Content-Disposition: form-data;\r\n filename="a"',
      "application/octet-stream",
    ],
    ["a field", 'Content-Disposition: form-data; name="field"', undefined],
    ["a field named like one", 'Content-Disposition: form-data; name="; filename=a"', undefined],
    ["a part without a disposition", "X-Other: 1", undefined],
  ])("of %s", async (_what, headers, type) => {
    const body = part(headers) + end;
    const added = type === undefined ? "" : `Content-Type: ${type}\r\n`;
    for (const length of [1, 7, body.length])
      expect(await typed(body, length)).toBe(`\r\n--${BOUNDARY}\r\n${added}${headers}\r\n\r\nx${end}`);
  });

  test.each([
    ["an open quote", `Content-Disposition: form-data; filename="${'\\"'.repeat(8_000)}`],
    ["many semicolons", `Content-Disposition: ${"; ".repeat(8_000)}`],
    ["white space", `Content-Type:${" ".repeat(16_000)}x`],
    ["many lines", "a\r\n ".repeat(4_000)],
  ])("is found in headers of %s, a thousand times", async (_what, headers) => {
    const body = part(headers).concat("\r\n").repeat(1_000) + end;
    expect((await typed(body, 65_536)).length).toBeGreaterThanOrEqual(body.length);
  });

  test("reads each byte once if the headers of a part do not end", async () => {
    const body = `--${BOUNDARY}\r\n`.repeat(2_000_000) + end;
    expect((await typed(body, 1_000_000)) === `\r\n${body}`).toBe(true);
  });
});
