// Divides a rendered page into the parts that the search finds.
import { nameOf } from "./search-options.mjs";

const METHOD = /^(GET|POST|PATCH|PUT|DELETE)$/;

/** Tags inside a line of text, which part no words. */
const INLINE = /<(?:wbr|\/?(?:a|code|em|span|strong)\b[^>]*)>/g;

/** The text of HTML. */
export const plain = (html) =>
  html
    .replace(INLINE, "")
    .replace(/<[^>]+>/g, " ")
    .replace(/&(?:(amp|lt|gt|quot)|#(\d+)|#x([\da-f]+));/gi, (_, name, decimal, hex) =>
      name
        ? { amp: "&", lt: "<", gt: ">", quot: '"' }[name.toLowerCase()]
        : String.fromCodePoint(decimal ? Number(decimal) : parseInt(hex, 16)),
    )
    .replace(/\s+/g, " ")
    .trim();

const codesOf = (html) => [...html.matchAll(/<code>(.*?)<\/code>/g)].map(([, code]) => plain(code));

/**
 * The anchor of a row: its name, such as `CHAT_ENDED`, or words of its first cells. Headings have anchors without an
 * upper-case letter; other names get a prefix, so that they cannot be the same.
 */
export function anchorOf(cells, taken) {
  const title = titleOf(cells);
  const code = METHOD.test(plain(cells[0])) ? undefined : codesOf(title)[0];
  const name = (code ?? plain(title)).replace(/[^\w.]+/g, "-").replace(/^-+|-+$/g, "");
  const first = /^[A-Z][A-Z\d_]+$/.test(name) ? name : `row-${name.toLowerCase().slice(0, 60)}`;
  let anchor = first;
  for (let count = 2; taken.has(anchor); count++) anchor = `${first}-${count}`;
  taken.add(anchor);
  return anchor;
}

/** The cells that name a row: the first one, or the method and the path. */
const titleOf = ([first = "", second = ""]) => (METHOD.test(plain(first)) ? `${first} ${second}` : first);

function rowSection(path, page, heading, [, anchor, row]) {
  const cells = [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell]) => cell);
  const title = titleOf(cells);
  const isRoute = title !== cells[0];
  const commands = codesOf(row).filter((code) => code.startsWith("npm "));
  const names = [plain(title), ...codesOf(isRoute ? row : title), ...commands];
  const rest = cells.slice(isRoute ? 2 : 1).map(plain);
  return {
    id: `${path}#${anchor}`,
    title: plain(title),
    heading,
    page,
    text: rest.filter((cell) => cell !== "").join(" · "),
    names: [...new Set(names.map(nameOf))],
  };
}

const HEADER = /<thead>[^]*?<\/thead>/g;
const ROW = /<tr id="([^"]*)">([^]*?)<\/tr>/g;

/** Searchable parts of a page: one for each heading, and one for each row of a table. */
export function* sections(path, page, content) {
  for (const part of content.split(/(?=<h[1-3] id=)/)) {
    const [, id, html] = /^<h[1-3] id="([^"]*)">(.*?)<\/h/.exec(part) ?? [];
    if (id === undefined) continue;
    const title = plain(html);
    const text = plain(
      part
        .replace(/^<h.*?<\/h\d>/, "")
        .replace(HEADER, "")
        .replace(ROW, ""),
    );
    const names = [...new Set([title, ...codesOf(html)].map(nameOf))];
    yield { id: `${path}#${id}`, title, heading: "", page, text, names };
    const heading = title === page ? "" : title;
    for (const row of part.matchAll(ROW)) yield rowSection(path, page, heading, row);
  }
}
