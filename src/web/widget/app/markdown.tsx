import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";

/** Allowed schemes of links, which open in a new tab. */
const SCHEMES = ["https:", "http:", "mailto:", "tel:"];

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00a0",
};
const decodeEntities = (text: string) =>
  text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity]!);

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  let scheme: string;
  try {
    scheme = new URL(href, "relative:/").protocol;
  } catch {
    scheme = "";
  }
  if (!SCHEMES.includes(scheme)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

const inside = (token: { tokens?: Token[]; text?: string }): ComponentChildren =>
  token.tokens ? token.tokens.map(node) : decodeEntities(token.text ?? "");

const list = ({ ordered, start, items }: Tokens.List) => {
  const children = items.map((item, index) => (
    <li key={index}>
      {item.task && (item.checked ? "☑ " : "☐ ")}
      {inside(item)}
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>;
};

const row = (cells: Tokens.TableCell[], Cell: "th" | "td") => (
  <tr>
    {cells.map((cell, index) => (
      <Cell key={index}>{inside(cell)}</Cell>
    ))}
  </tr>
);

const table = ({ header, rows }: Tokens.Table) => (
  <div class="table" tabIndex={0} role="group">
    <table>
      <thead>{row(header, "th")}</thead>
      <tbody>{rows.map((cells) => row(cells, "td"))}</tbody>
    </table>
  </div>
);

/** The supported tokens. Others, in particular HTML, are shown as plain text. */
const RENDERERS: Readonly<Record<string, (token: never) => ComponentChildren>> = {
  space: () => null,
  def: () => null,
  checkbox: () => null,
  paragraph: (token: Tokens.Paragraph) => <p>{inside(token)}</p>,
  // Not a real heading, because the conversation has no outline.
  heading: (token: Tokens.Heading) => <p class="heading">{inside(token)}</p>,
  blockquote: (token: Tokens.Blockquote) => <blockquote>{inside(token)}</blockquote>,
  list,
  table,
  hr: () => <hr />,
  code: ({ text }: Tokens.Code) => (
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  ),
  codespan: ({ text }: Tokens.Codespan) => <code>{text}</code>,
  strong: (token: Tokens.Strong) => <strong>{inside(token)}</strong>,
  em: (token: Tokens.Em) => <em>{inside(token)}</em>,
  del: (token: Tokens.Del) => <del>{inside(token)}</del>,
  br: () => <br />,
  text: (token: Tokens.Text) => <>{inside(token)}</>,
  escape: ({ text }: Tokens.Escape) => text,
  link: (token: Tokens.Link) => <Link href={token.href}>{inside(token)}</Link>,
  // A link instead of the image, which would send a request to another host and reveal the reader.
  image: ({ href, text }: Tokens.Image) => <Link href={href}>{text || href}</Link>,
};

const node = (token: Token): ComponentChildren => {
  const show = Object.hasOwn(RENDERERS, token.type) ? RENDERERS[token.type] : undefined;
  return show ? show(token as never) : token.raw;
};

/** Renders Markdown as elements; never as HTML text. */
export const Markdown = memo(({ text }: { text: string }) => (
  <>{lexer(text, { gfm: true, breaks: true }).map(node)}</>
));

/** The plain words, for speech output. */
export const spoken = (text: string): string =>
  lexer(text)
    .map(function words(token: Token): string {
      const { tokens, items, text } = token as { tokens?: Token[]; items?: Token[]; text?: string };
      if (token.type === "html" || token.type === "code") return "";
      return (tokens ?? items)?.map(words).join(items ? ". " : "") ?? decodeEntities(text ?? "");
    })
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
