import { compile, type FormatCallback } from "html-to-text";
import type { Block } from "./block";
import { decode } from "./text";

/** Precedes a heading's level in the converted text; a private-use character that no script contains. */
const MARK = "\ue001";
const HEADING = new RegExp(`^${MARK}(\\d)`);

const heading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addInline(MARK + (element.name ?? "h1").slice(1));
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

/** Upper limit for the length of a page; uploads are smaller. */
const MAX_CHARACTERS = 64 * 1_048_576;
const IGNORED_ELEMENTS = [
  "img",
  "svg",
  "nav",
  "script",
  "title",
  "style",
  "noscript",
  "template",
  "form",
  "button",
  "select",
];

const toText = compile({
  wordwrap: false,
  formatters: { marked: heading },
  selectors: [
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, format: "marked" })),
    ...IGNORED_ELEMENTS.map((selector) => ({ selector, format: "skip" })),
    {
      selector: "a",
      options: { linkBrackets: ["(", ")"], hideLinkHrefIfSameAsText: true, noAnchorUrl: true },
    },
    { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
  ],
  limits: { maxInputLength: MAX_CHARACTERS },
});

/** Reads the visible text of a page, without menus, forms and images. */
export const readHtml = (content: Buffer): Block[] => htmlBlocks(decode(content));

export function htmlBlocks(html: string): Block[] {
  return toText(html.replaceAll(MARK, ""))
    .split(/\n\s*\n/)
    .map((text) => {
      const depth = HEADING.exec(text)?.[1];
      return depth === undefined ? { text } : { text: text.slice(2), depth: Number(depth) };
    });
}
