import type { IncomingMessage } from "node:http";
import type { Caller } from "../account/auth/caller";
import type { Config } from "../platform/settings/config";
import { DomainError } from "../platform/errors";
import { isLoopback } from "./client-address";
import { foreignOrigin } from "./origin";

type Openness = "all" | "loopback" | "none";
const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** To whom the settings paths are open without a credential. */
export const settingsOpenTo = ({
  OPEN_SETTINGS,
  embedded,
}: Pick<Config, "OPEN_SETTINGS" | "embedded">): Openness => {
  if (OPEN_SETTINGS === true) return "all";
  return OPEN_SETTINGS === "loopback" || (OPEN_SETTINGS === undefined && embedded) ? "loopback" : "none";
};

/**
 * Who a request without credential on the settings paths stands for: the default organization, and only where that
 * is open. The Host must be ours and no other site's page may have sent it, or any page in a browser on this machine
 * could read the secrets.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function anonymousSettings(
  req: IncomingMessage,
  open: Openness,
  publicUrl: string,
  organizationId: string,
): Caller {
  // A proxy that isn't trusted hides who called: its own socket on loopback proves nothing.
  const direct = req.headers["x-forwarded-for"] === undefined && req.headers.forwarded === undefined;
  const local = isLoopback(req.socket.remoteAddress) && direct;
  if (open === "none" || (open === "loopback" && !local))
    throw new DomainError(
      "UNAUTHENTICATED",
      "The settings need a credential here: the header X-API-Key, or Authorization: Bearer <token>.",
    );
  if (!hostIsOurs(req.headers.host, publicUrl))
    throw new DomainError(
      "FORBIDDEN",
      "Without a credential the settings answer only under this service's own address.",
    );
  if (fromOtherSite(req, publicUrl))
    throw new DomainError(
      "FORBIDDEN",
      "Without a credential the settings do not answer pages of other sites.",
    );
  return { organizationId, kind: "ANONYMOUS" };
}

function hostIsOurs(host: string | undefined, publicUrl: string): boolean {
  if (host === undefined || !URL.canParse(`http://${host}`)) return false;
  return LOCAL_HOST.test(new URL(`http://${host}`).hostname) || host === new URL(publicUrl).host;
}

function fromOtherSite(req: IncomingMessage, publicUrl: string): boolean {
  const site = req.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return foreignOrigin(req, publicUrl) !== undefined;
}
