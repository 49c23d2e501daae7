import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import { publicError } from "../platform/errors";
import { requestId } from "./answer-headers";
import { errorBody, STATUS, type ErrorBody } from "./error-body";
import { beginJson, sendText } from "./send-json";

/**
 * Ends an answer with an error, as JSON.
 * @param shape the body to send instead of the usual one
 */
export type SendError = (res: ServerResponse, error: unknown, shape?: (body: ErrorBody) => unknown) => void;

/** Sends errors. Faults of the server are logged; the client gets their code only. */
export const errorSender =
  (logger: Logger): SendError =>
  (res, error, shape = (body) => body) => {
    const id = requestId(res);
    const shown = publicError(error);
    const status = STATUS[shown.code];
    // An answer that has begun cannot tell the client.
    if (status >= 500 || res.headersSent) logger.error({ err: error, requestId: id }, "request failed");
    if (res.headersSent) return void res.destroy();
    if (status === 503) res.setHeader("Retry-After", "2");
    if (status === 401) res.setHeader("WWW-Authenticate", 'Bearer realm="parley"');
    beginJson(res, status);
    sendText(res, JSON.stringify(shape(errorBody(shown, status, id))));
  };
