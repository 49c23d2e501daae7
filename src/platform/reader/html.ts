import { compile, type FormatCallback } from "html-to-text";
import type { Block } from "./block";
import { decode } from "./text";

/** Stands before a heading's depth in the text that is made of a page; no character of any script. */
const MARK = "\ue001";
const HEADING = new RegExp(`^${MARK}(\\d)`);

const heading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addInline(MARK + (element.name ?? "h1").slice(1));
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

const NEVER_SHOWN = [
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
    ...NEVER_SHOWN.map((selector) => ({ selector, format: "skip" })),
    {
      selector: "a",
      options: { linkBrackets: ["(", ")"], hideLinkHrefIfSameAsText: true, noAnchorUrl: true },
    },
    { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
  ],
  limits: { maxInputLength: 64 * 1_048_576 },
});

/** A page as a person reads it: without menus, forms and pictures. */
export const readHtml = (content: Buffer): Block[] => htmlBlocks(decode(content));

export function htmlBlocks(html: string): Block[] {
  return toText(html.replaceAll(MARK, ""))
    .split(/\n\s*\n/)
    .map((text) => {
      const depth = HEADING.exec(text)?.[1];
      return depth === undefined ? { text } : { text: text.slice(2), depth: Number(depth) };
    });
}
