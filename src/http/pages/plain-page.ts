import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Response } from "express";
import { BASE_POLICY, setPolicy } from "./served-pages";

const STYLE = `
:root { color-scheme: light dark; --text: #1c1f26; --muted: #565d6b; --page: #f5f6f8; --card: #fff; --line: #d9dde4; --link: #1d4ed8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8eaef; --muted: #a7aebb; --page: #14161b; --card: #1d2027; --line: #343944; --link: #8fb4ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 4rem) 1rem; }
h1 { margin: 0 0 .5rem; font-size: clamp(1.75rem, 5vw, 2.5rem); line-height: 1.2; }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.25rem; }
p { margin: 0 0 1rem; max-width: 42rem; overflow-wrap: anywhere; }
a { color: var(--link); }
.muted { color: var(--muted); }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: 1rem; margin: 0; padding: 0; list-style: none; }
li { padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); overflow-wrap: anywhere; }
li a { font-weight: 600; }
li span { display: block; color: var(--muted); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.5rem; margin: 0; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { margin-bottom: .75rem; } }
code { font: .9em ui-monospace, monospace; }
`;
const POLICY = {
  ...BASE_POLICY,
  "script-src": "'none'",
  "style-src": `'sha256-${hash("sha256", STYLE, "base64")}'`,
};

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text within HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);

/** Sends a page without scripts. @param content HTML */
export function sendPlainPage(res: ServerResponse, status: number, title: string, content: string): void {
  setPolicy(res as Response, POLICY); // Express gives every response its prototype
  if (status >= 400) res.setHeader("Cache-Control", "no-store");
  res.statusCode = status;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main>${content}</main></body></html>
`;
  res.setHeader("Content-Type", "text/html; charset=utf-8");
  res.setHeader("Content-Length", Buffer.byteLength(html));
  res.end(res.req.method === "HEAD" ? undefined : html);
}
