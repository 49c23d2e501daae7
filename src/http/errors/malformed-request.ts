import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { newId } from "../../platform/database/values/ids";
import type { PublicError } from "../../platform/errors";
import { errorBody, HEAD_TOO_LONG, type ErrorBody } from "./error-body";

const MALFORMED: PublicError = { code: "BAD_USER_INPUT", message: "Malformed HTTP request." };
const NOT_ENCODED: PublicError = {
  code: "BAD_USER_INPUT",
  message: "The URL contains characters that must be percent-encoded, such as %C3%BC for ü.",
};
const TOO_SLOW: PublicError = {
  code: "TIMEOUT",
  message: "The request did not arrive in time. Send it again.",
};

/** Status and error by the code of Node's HTTP parser; other codes are a 400. */
const STATUS: Readonly<Record<string, readonly [number, PublicError]>> = {
  HPE_INVALID_URL: [400, NOT_ENCODED],
  HPE_HEADER_OVERFLOW: [431, HEAD_TOO_LONG],
  ERR_HTTP_REQUEST_TIMEOUT: [408, TOO_SLOW],
};

/** Answers a connection whose bytes are not valid HTTP; Node would send a status without a body. */
export function answerMalformed({ code = "" }: NodeJS.ErrnoException, socket: Duplex): void {
  // Like Node's default handler, never writes into a response that has started.
  const { _httpMessage: running } = socket as { _httpMessage?: ServerResponse | null };
  if (!socket.writable || code === "ECONNRESET" || running?.headersSent) return void socket.destroy();
  const [status, error] = STATUS[code] ?? [400, MALFORMED];
  answerSocket(socket, errorBody(error, status, newId()));
}

/** Answers a request by its socket, and closes it. */
export function answerSocket(socket: Duplex, body: ErrorBody): void {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${body.statusCode} ${body.error}`,
    "Connection: close",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}
