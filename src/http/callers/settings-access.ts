import type { IncomingMessage } from "node:http";
import type { Caller } from "../../account/auth/caller";
import type { Config } from "../../platform/settings/config";
import { DomainError } from "../../platform/errors";
import { isLoopback } from "../limits/client-address";
import { foreignOrigin } from "./origin";

type SettingsAccess = "all" | "loopback" | "none";
/** Host names of this machine. */
export const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Headers, in lower case, that proxies and CDNs add to what they pass on. */
const ADDED_BY_PROXY =
  /^(forwarded|via|cdn-loop|(true|x|x-cluster|fastly|fly)-client-ip|x-real-ip|(x-forwarded|x-original|x-envoy|x-amzn|x-azure|x-arr|x-appengine|cf|akamai)(-.*)?)$/;

/** Callers that may read the settings without a credential. */
export const settingsAccess = ({
  OPEN_SETTINGS,
  embedded,
}: Pick<Config, "OPEN_SETTINGS" | "embedded">): SettingsAccess => {
  if (OPEN_SETTINGS === true) return "all";
  return OPEN_SETTINGS === "loopback" || (OPEN_SETTINGS === undefined && embedded) ? "loopback" : "none";
};

/**
 * The caller for a settings request without a credential: the default organization, if the server allows it. The Host
 * header must be ours and no page of another site may have sent the request; otherwise any page in a browser on this
 * machine could read the secrets.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function anonymousSettings(
  req: IncomingMessage,
  access: SettingsAccess,
  publicUrl: string,
  organizationId: string,
): Caller {
  // A proxy hides the client's address, so a loopback socket alone proves nothing.
  const throughProxy = Object.keys(req.headers).some((name) => ADDED_BY_PROXY.test(name));
  const local = isLoopback(req.socket.remoteAddress) && !throughProxy;
  if (access === "none" || (access === "loopback" && !local))
    throw new DomainError(
      "UNAUTHENTICATED",
      "Authentication required: send X-API-Key, or Authorization: Bearer <token>.",
    );
  if (!hostIsOurs(req.headers.host, publicUrl))
    throw new DomainError(
      "FORBIDDEN",
      "Without a credential the settings are available only at this service's own address (PUBLIC_BASE_URL). Send X-API-Key to use another one.",
    );
  if (fromOtherSite(req, publicUrl))
    throw new DomainError(
      "FORBIDDEN",
      "Without a credential the settings are not available to pages of other sites. Send X-API-Key.",
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
  return foreignOrigin(req, () => publicUrl) !== undefined;
}
