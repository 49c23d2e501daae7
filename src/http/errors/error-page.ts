import type { IncomingMessage, ServerResponse } from "node:http";
import type { ErrorBody } from "./error-body";
import { escapeHtml, sendPlainPage } from "../pages/plain-page";

/** Whether a request came from the address bar of a browser, outside the interfaces for programs. */
export const wantsErrorPage = ({ url = "", headers }: IncomingMessage): boolean =>
  !/^\/(rest|graphql)(?=[/?]|$)/i.test(url) && /\btext\/html\b/i.test(headers.accept ?? "");

/** Makes links of the pages that a message names at the beginning of a word. */
const withLinks = (html: string): string =>
  html.replace(
    /(?<=^|\s)\/(?:rest\/docs|docs(?:\/[a-z-]+)?|analytics)(?=[\s,?]|\.?$)/g,
    '<a href="$&">$&</a>',
  );

/** Sends an error as a page. */
export const sendErrorPage = (res: ServerResponse, body: ErrorBody): void =>
  sendPlainPage(
    res,
    body.statusCode,
    `${body.statusCode} ${body.error}`,
    `<h1>${escapeHtml(body.error)}</h1>
<p>${withLinks(escapeHtml(body.message))}</p>
<p><a href="/">Start page</a></p>
<p class="muted">Status ${body.statusCode}, code <code>${body.code}</code>, request <code>${escapeHtml(body.requestId)}</code></p>`,
  );
