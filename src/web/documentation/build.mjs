// Renders docs/ as web pages into dist/public/documentation: node src/web/documentation/build.mjs
import { build } from "esbuild";
import hljs from "highlight.js/lib/common";
import graphql from "highlight.js/lib/languages/graphql";
import nginx from "highlight.js/lib/languages/nginx";
import { Marked } from "marked";
import { getHeadingList, gfmHeadingId } from "marked-gfm-heading-id";
import { markedHighlight } from "marked-highlight";
import MiniSearch from "minisearch";
import { readFile, readdir, rm } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { outputsOf, publish } from "../publish.mjs";
import { SEARCH_OPTIONS } from "./search-options.mjs";
import { anchorOf, plain, sections } from "./sections.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");
const outdir = join(root, "dist/public/documentation");

hljs.registerLanguage("graphql", graphql);
hljs.registerLanguage("nginx", nginx);

/** Pages with a source outside docs/. */
const ELSEWHERE = {
  "CONTRIBUTING.md": "contributing",
  "CHANGELOG.md": "changelog",
  "rest-compat/ROUTES.md": "rest-routes",
};

/** Path of the page made from a source, or undefined if the source is no page. */
function pathOf(source) {
  if (source === "docs/index.md") return "/docs";
  const name = ELSEWHERE[source] ?? /^docs\/([a-z-]+)\.md$/.exec(source)?.[1];
  return name && `/docs/${name}`;
}

const escape = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
/** Lets long names in a table break, so that its columns fit. */
const breakable = (html) =>
  html.replace(
    /<code>([^<]*)<\/code>/g,
    (_, code) => `<code>${code.replace(/[/_.](?=\w)|[a-z](?=[A-Z])/g, "$&<wbr>")}</code>`,
  );
/** Renders a source of a page. Links between sources become links between pages. */
function render(source, text, known) {
  const href = (given) => {
    if (/^(https?:|#|\/)/.test(given)) return given;
    const [file, anchor] = given.split("#");
    const target = posix.join(posix.dirname(source), file);
    if (!pathOf(target)) return undefined; // a file of the repository that is no page
    if (!known.has(target))
      throw new Error(`${source} links to ${target}, which docs/index.md does not list.`);
    return pathOf(target) + (anchor ? `#${anchor}` : "");
  };
  const anchors = new Set();
  const marked = new Marked(
    markedHighlight({
      langPrefix: "language-",
      highlight: (code, language) =>
        hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : escape(code),
    }),
    gfmHeadingId(),
    {
      renderer: {
        link({ href: given, tokens }) {
          const target = href(given);
          const inner = this.parser.parseInline(tokens);
          return target === undefined ? `<code>${inner}</code>` : `<a href="${escape(target)}">${inner}</a>`;
        },
        image({ href: given, text: alternative }) {
          return `<img src="/docs/assets/${escape(given)}" alt="${escape(alternative)}" />`;
        },
        table(token) {
          const contents = (row) => row.map((cell) => breakable(this.parser.parseInline(cell.tokens)));
          const header = contents(token.header);
          const labels = header.map((cell) => escape(plain(cell)));
          const rows = token.rows.map(contents).map((row) => {
            const cells = row.map((cell, column) => `<td data-label="${labels[column]}">${cell}</td>`);
            return `<tr id="${escape(anchorOf(row, anchors))}">${cells.join("")}</tr>`;
          });
          const names = header.map((cell) => `<th>${cell}</th>`).join("");
          return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${names}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>`;
        },
        code({ text: code, lang, escaped }) {
          return `<pre tabindex="0"><code class="language-${escape(lang ?? "text")}">${escaped ? code : escape(code)}</code></pre>`;
        },
      },
    },
  );
  const content = marked.parse(text.replace(/<!--[^]*?-->/g, ""));
  return { content, headings: getHeadingList() };
}

/** The groups of pages in docs/index.md: a heading of the second level, then a list of links. */
function navigationOf(index) {
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.split("\n", 1)[0],
      sources: [...part.matchAll(/^- \[([^\]]+)\]\(([^)#]+\.md)\)/gm)].map(([, title, path]) => ({
        title,
        source: posix.join("docs", path),
      })),
    }));
}

const read = (source) => readFile(join(root, source), "utf8");
const navigation = navigationOf(await read("docs/index.md"));
const sources = [
  "docs/index.md",
  ...navigation.flatMap((group) => group.sources.map(({ source }) => source)),
];
const known = new Set(sources);
const template = await readFile(join(here, "page.html"), "utf8");

const navigationHtml = (current) =>
  navigation
    .map(({ title, sources: entries }) => {
      const items = entries.map(({ title: name, source }) => {
        const mark = source === current ? ' aria-current="page"' : "";
        return `<li><a href="${pathOf(source)}"${mark}>${escape(name)}</a></li>`;
      });
      return `<h2>${escape(title)}</h2><ul>${items.join("")}</ul>`;
    })
    .join("\n");

const search = new MiniSearch(SEARCH_OPTIONS);
const pages = {};
for (const source of sources) {
  const { content, headings } = render(source, await read(source), known);
  const title = plain(headings[0].text);
  const contents = headings
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`)
    .join("");
  const page = template
    .replaceAll("{{title}}", () => escape(title))
    .replace("{{navigation}}", () => navigationHtml(source))
    .replace("{{contents}}", () =>
      contents && source !== "docs/index.md" ? `<h2>On this page</h2><ul>${contents}</ul>` : "",
    )
    .replace("{{content}}", () => content);
  const path = pathOf(source);
  pages[join(outdir, `${path === "/docs" ? "index" : posix.basename(path)}.html`)] = page;
  if (source !== "docs/index.md") search.addAll([...sections(path, title, content)]);
}

const assetsDir = join(outdir, "assets");
const images = await readdir(join(root, "docs/images"));
const assets = Object.fromEntries(
  await Promise.all(
    images.map(async (name) => [`images/${name}`, await readFile(join(root, "docs/images", name))]),
  ),
);
const built = await build({
  entryPoints: [join(here, "documentation.ts"), join(here, "documentation.css")],
  outdir: assetsDir,
  write: false,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "linked",
  tsconfig: join(here, "tsconfig.json"),
  logLevel: "warning",
});
Object.assign(assets, outputsOf(built, assetsDir), { "search.json": Buffer.from(JSON.stringify(search)) });
await publish({ folder: assetsDir, address: "/docs/assets", assets, pages });
// Pages whose source is gone.
for (const name of await readdir(outdir))
  if (name !== "assets" && !Object.keys(pages).some((path) => name.startsWith(posix.basename(path))))
    await rm(join(outdir, name));
