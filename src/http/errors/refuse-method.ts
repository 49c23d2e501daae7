import type { IncomingMessage, ServerResponse } from "node:http";
import { DomainError } from "../../platform/errors";

/**
 * Answers a request whose method the path does not support; OPTIONS gets the methods, for pages of other origins only on paths
 * that these may call.
 * @param methods the path's methods, in lower case
 * @param longer longer paths that support the method of the request
 * @throws METHOD_NOT_ALLOWED for methods other than OPTIONS
 */
export function refuseMethod(
  req: IncomingMessage,
  res: ServerResponse,
  methods: readonly string[],
  longer: readonly string[] = [],
): void {
  const allow = [...methods, ...(methods.includes("get") ? ["head"] : []), "options"]
    .join(", ")
    .toUpperCase();
  res.setHeader("Allow", allow);
  if (req.method !== "OPTIONS") {
    const advice = longer.length > 0 ? ` For ${req.method}, use ${longer.join(" or ")}.` : "";
    throw new DomainError("METHOD_NOT_ALLOWED", `Method not allowed. This path supports ${allow}.${advice}`);
  }
  if (res.hasHeader("Access-Control-Allow-Origin")) res.setHeader("Access-Control-Allow-Methods", allow);
  res.statusCode = 204;
  res.end();
}
