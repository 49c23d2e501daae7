import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import { publicError } from "../../platform/errors";
import { requestId } from "../answers/answer-headers";
import { errorBody, STATUS, type ErrorBody } from "./error-body";
import { sendErrorPage, wantsErrorPage } from "./error-page";
import { askToRetry } from "./reported-errors";
import { beginJson, sendText } from "../answers/send-json";

/**
 * Ends a response with an error: as JSON, or as a page for browsers outside `/rest` and `/graphql`.
 * @param shape converts REST's error body to another format, and may set the header Content-Type
 */
export type SendError = (res: ServerResponse, error: unknown, shape?: (body: ErrorBody) => unknown) => void;

/** Creates a sender of errors. Internal errors are logged; the client gets only their code. */
export const errorSender =
  (logger: Logger): SendError =>
  (res, error, shape = (body) => body) => {
    const id = requestId(res);
    const visible = publicError(error);
    const status = STATUS[visible.code];
    // Errors after the headers were sent cannot reach the client, so they are logged.
    if (status >= 500 || res.headersSent) logger.error({ err: error, requestId: id }, "request failed");
    if (res.headersSent) return void res.destroy();
    askToRetry(res, [visible.code]);
    if (status === 401) res.setHeader("WWW-Authenticate", 'Bearer realm="parley"');
    if (wantsErrorPage(res.req)) return sendErrorPage(res, errorBody(visible, status, id));
    beginJson(res, status);
    void sendText(res, JSON.stringify(shape(errorBody(visible, status, id))));
  };
