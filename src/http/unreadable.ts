import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { newId } from "../platform/database/ids";
import type { PublicError } from "../platform/errors";
import { errorBody } from "./error-body";

const BROKEN: PublicError = { code: "BAD_USER_INPUT", message: "The request is no HTTP that can be read." };
const LONG: PublicError = {
  code: "PAYLOAD_TOO_LARGE",
  message: "The address and the headers of a request may have 16 KiB together.",
};
const SLOW: PublicError = { code: "TIMEOUT", message: "The request did not come in time." };

/** By the codes of Node's parser; all else is a 400. */
const STATUS: Readonly<Record<string, readonly [number, PublicError]>> = {
  HPE_HEADER_OVERFLOW: [431, LONG],
  ERR_HTTP_REQUEST_TIMEOUT: [408, SLOW],
};

/** Answers a connection whose bytes are no HTTP request; Node would send a status without a body. */
export function unreadable({ code = "" }: NodeJS.ErrnoException, socket: Duplex): void {
  // As Node's own answer: none into the middle of another.
  const { _httpMessage: running } = socket as { _httpMessage?: ServerResponse | null };
  if (!socket.writable || code === "ECONNRESET" || running?.headersSent) return void socket.destroy();
  const [status, error] = STATUS[code] ?? [400, BROKEN];
  const body = errorBody(error, status, newId());
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${body.error}`,
    "Connection: close",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}
