import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../src/account/auth/caller";
import { DomainError } from "../src/platform/errors";
import type { Auth } from "./route";
import type { RestServer } from "./server";

/** Messages for requests without a credential, by the credential that the route requires. */
const AUTHENTICATION_REQUIRED = {
  keyOrBearer: "Authentication required: send X-API-Key, or Authorization: Bearer <token>.",
  key: "Authentication required: send an API key in X-API-Key.",
  public: "Authentication required: send a PUBLIC key in X-Public-Key, or a token in X-Public-Token.",
} as const;

/** The error for a request without a credential. */
export const authenticationRequired = (auth: Exclude<Auth, "none">): DomainError =>
  new DomainError("UNAUTHENTICATED", AUTHENTICATION_REQUIRED[auth === "settings" ? "keyOrBearer" : auth]);

/** Authenticates a request with the kind of credential that the route requires. @throws UNAUTHENTICATED */
export async function callerFor(
  { callers }: Pick<RestServer, "callers">,
  auth: Auth,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Caller | undefined> {
  if (auth === "none") return undefined;
  const caller = await callers.authenticate(req, res, auth === "public" ? pageCredential(req) : undefined);
  if (!caller && auth === "settings") return callers.anonymousSettings(req);
  if (!caller) throw authenticationRequired(auth);
  if (auth === "public" && caller.kind === "SECRET" && req.headers["x-public-key"])
    throw new DomainError(
      "UNAUTHENTICATED",
      "X-Public-Key requires a PUBLIC key. Never put a SECRET key in a web page.",
    );
  if (auth === "key" && ["TOKEN", "VISITOR", "ANALYTICS"].includes(caller.kind))
    throw new DomainError(
      "UNAUTHENTICATED",
      "This path requires an API key in X-API-Key; bearer tokens are not accepted.",
    );
  return caller;
}

/** The credential in the headers for web pages. */
function pageCredential(req: IncomingMessage): Readonly<Record<string, unknown>> | undefined {
  const key = req.headers["x-public-key"];
  const token = req.headers["x-public-token"];
  if (key) return { "x-api-key": key };
  return typeof token === "string" && token !== "" ? { authorization: `Bearer ${token}` } : undefined;
}
