import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { childReader, readerMemory, type ReaderLimits } from "../../src/platform/providers/child-reader";
import type { ReadableType } from "../../src/platform/ports/document-reader";
import { docx, pdf } from "../support/documents";

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

const read = (type: ReadableType, content: string | Buffer, limits?: Partial<ReaderLimits>) =>
  childReader(limits).read(type, Readable.from([Buffer.from(content)]));

/** The texts of the passages; fails if there is a problem. */
async function texts(type: ReadableType, content: string | Buffer): Promise<string[]> {
  const reading = await read(type, content);
  if ("problem" in reading) throw new Error(reading.problem);
  return reading.passages.map(({ text }) => text);
}

describe("a document is split", () => {
  test("Markdown: by headings, with the path to each, and code unchanged", async () => {
    const text =
      "# Handbook\n\nRead me.\n\n## Hours\n\nNine to five.\n\n- Monday\n- Friday\n\n```sh\n# no heading\n```\n\nParking\n-------\nFree.";
    expect(await texts("text/plain", text)).toEqual([
      "Handbook\nRead me.",
      "Handbook › Hours\nNine to five.\n\n- Monday\n- Friday\n\n```sh\n# no heading\n```",
      "Handbook › Parking\nFree.",
    ]);
  });

  test("text: short paragraphs together, long ones between sentences, with the last sentence repeated", async () => {
    const sentences = Array.from(
      { length: 40 },
      (_, index) => `This is sentence number ${index + 1} of the text.`,
    );
    const found = await texts("text/plain", `\ufeffShort.\r\n\r\nShort too.\r\n\r\n${sentences.join(" ")}`);
    expect(found.length).toBeGreaterThan(2);
    expect(found[0]).toBe("Short.\n\nShort too.");
    for (const text of found) expect(text.length).toBeLessThanOrEqual(1_000);
    for (const sentence of sentences) expect(found.some((text) => text.includes(sentence))).toBe(true);
    const lastOf = (text: string) => /This[^.]*\.$/.exec(text)![0];
    for (let index = 2; index < found.length; index++)
      expect(found[index]!.startsWith(lastOf(found[index - 1]!))).toBe(true);
  });

  test("text without spaces is cut too, never inside a character", async () => {
    const found = await texts("text/plain", "🥊".repeat(1_500));
    expect(found.join("")).toBe("🥊".repeat(1_500));
    expect(found.every((text) => text.isWellFormed())).toBe(true);
  });

  test("HTML: visible text, without menus and scripts, with link addresses and tables in columns", async () => {
    const page = `<!doctype html><title>T</title><nav>Menu</nav><h1>Acme</h1><p>Book <a href="https://a.example/b">here</a>.
      <script>alert(1)</script><h2>Prices</h2><table><tr><th>What<th>Price<tr><td>Cleaning<td>80 €</table><p>&copy; <i>we</i>`;
    expect(await texts("text/html", page)).toEqual([
      "Acme\nBook here (https://a.example/b).",
      expect.stringMatching(/^Acme › Prices\nWhat +Price\nCleaning +80 €\n\n© we$/),
    ]);
  });

  test("DOCX: by heading styles", async () => {
    const file = await docx([
      ["Heading1", "Handbook"],
      ["Heading2", "Hours"],
      "Nine &amp; five.",
      ["Heading2", "Parking"],
      "Free.",
    ]);
    expect(await texts(DOCX, file)).toEqual(["Handbook › Hours\nNine & five.", "Handbook › Parking\nFree."]);
  });

  test("PDF: larger letters are headings, hyphenated words are joined, passages have pages, footers are left out", async () => {
    const footer = (page: number) => [[""], [`Page ${page} of 3`]] as const;
    const file = pdf(
      [
        ["Handbook", 24],
        [""],
        ["Hours", 17],
        ["We open at eight and we close only after the last per-"],
        ["son has left (at six)."],
        ...footer(1),
      ],
      [["Parking", 17], ["It is free, whoever you are, and lies behind the house."], ...footer(2)],
      [["A page without any heading of its own goes on with the last."], ...footer(3)],
    );
    const reading = await read("application/pdf", file);
    expect(reading).toEqual({
      passages: [
        {
          page: 1,
          text: "Handbook › Hours\nWe open at eight and we close only after the last person has left (at six).",
        },
        { page: 2, text: "Handbook › Parking\nIt is free, whoever you are, and lies behind the house." },
        { page: 3, text: "Handbook › Parking\nA page without any heading of its own goes on with the last." },
      ],
    });
  });
});

describe("an unreadable document gives a problem:", () => {
  test.each<[string, ReadableType, string | Buffer, RegExp]>([
    ["empty text", "text/plain", " \n ", /contains no text/],
    ["an empty page", "text/html", "<p> </p>", /contains no text/],
    ["a PDF of images", "application/pdf", pdf([]), /text recognition/],
    ["an invalid PDF", "application/pdf", "%PDF-1.7 nothing", /PDF is broken/],
    ["half a PDF", "application/pdf", pdf([["words", 12]]).subarray(0, 120), /broken|no text/],
    ["an invalid DOCX", DOCX, "PK\u0003\u0004 nothing", /DOCX file is broken/],
    ["five million characters", "text/plain", "word ".repeat(1_000_000), /4 million characters/],
    ["a hundred thousand headings", "text/plain", "# a\n".repeat(100_000), /more text than can be indexed/],
  ])("%s", async (_what, type, content, problem) => {
    expect(await read(type, content)).toEqual({ problem: expect.stringMatching(problem) });
  });

  test("text with thousands of nested quotes is read without its structure", async () => {
    expect((await texts("text/plain", ">".repeat(4_000))).join("")).toBe(">".repeat(4_000));
  });
});

describe("the process that reads documents", () => {
  const MIB = 1_048_576;

  test("is killed if a document expands beyond its memory limit", async () => {
    const bomb = await docx(["a".repeat(100 * MIB)]);
    expect(bomb.length).toBeLessThan(MIB);
    expect(await read(DOCX, bomb, { memoryBytes: 128 * MIB })).toEqual({
      problem: "Reading the file took too much memory: split it. The limit is 128 MiB.",
    });
  });

  test.each([
    ["half of the memory of a container", 8_192, 512, 256],
    ["half of the memory of a machine without such a limit", 1_024, 0, 512],
    ["half of the memory of a machine with a larger limit", 1_024, 4_096, 512],
    ["never more than 768 MiB", 65_536, 0, 768],
  ])("may use %s", (_what, machine, container, limit) => {
    expect(readerMemory(machine * MIB, container * MIB)).toBe(limit * MIB);
  });

  test("is killed after its time limit", async () => {
    expect(await read("text/plain", "word ".repeat(100_000), { timeMs: 10 })).toEqual({
      problem: "Reading the file took longer than 0.01 seconds.",
    });
  });

  test("is killed if its output is too long", async () => {
    expect(await read("text/plain", "word ".repeat(100_000), { outputBytes: 1_000 })).toEqual({
      problem: expect.stringContaining("more text than can be indexed"),
    });
  });

  test("gets no environment variables", async () => {
    process.env.NODE_OPTIONS = "--no-such-option"; // Node would refuse to start with it
    try {
      expect(await read("text/plain", "words")).toEqual({ passages: [{ text: "words" }] });
    } finally {
      delete process.env.NODE_OPTIONS;
    }
  });

  test("does not crash the service if the content breaks off", async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from("words");
        await Promise.reject(new Error("the store is away"));
      })(),
    );
    await expect(childReader().read("text/plain", broken)).rejects.toThrow("the store is away");
  });
});
