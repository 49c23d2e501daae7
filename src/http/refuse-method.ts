import type { IncomingMessage, ServerResponse } from "node:http";
import { DomainError } from "../platform/errors";

/**
 * Answers a method that a path does not have: OPTIONS with what a page may send.
 * @param methods those of the path, in lower case
 * @throws METHOD_NOT_ALLOWED for any other method
 */
export function refuseMethod(req: IncomingMessage, res: ServerResponse, methods: readonly string[]): void {
  const allow = [...methods, ...(methods.includes("get") ? ["head"] : []), "options"]
    .join(", ")
    .toUpperCase();
  res.setHeader("Allow", allow);
  if (req.method !== "OPTIONS") throw new DomainError("METHOD_NOT_ALLOWED", `This path takes ${allow} only.`);
  res.setHeader("Access-Control-Allow-Methods", allow);
  res.setHeader("Access-Control-Max-Age", "86400");
  res.statusCode = 204;
  res.end();
}
