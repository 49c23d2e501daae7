import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../src/account/auth/caller";
import { DomainError } from "../src/platform/errors";
import type { Auth } from "./route";
import type { RestServer } from "./server";

/** What a request without credential is told, by what the row takes. */
const WITHOUT_CREDENTIAL = {
  keyOrBearer: "Authentication required: send X-API-Key, or Authorization: Bearer <token>.",
  key: "This needs an API key in the header X-API-Key.",
  public: "Authentication required: send a PUBLIC key in X-Public-Key, or a token in X-Public-Token.",
} as const;

/** The caller of a row that takes one kind of credential. @throws UNAUTHENTICATED */
export async function callerFor(
  { callers }: Pick<RestServer, "callers">,
  auth: Auth,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Caller | undefined> {
  if (auth === "none") return undefined;
  const caller = await callers.authenticate(req, res, auth === "public" ? pageCredential(req) : undefined);
  if (!caller && auth === "settings") return callers.anonymousSettings(req);
  if (!caller)
    throw new DomainError("UNAUTHENTICATED", WITHOUT_CREDENTIAL[auth === "settings" ? "keyOrBearer" : auth]);
  if (auth === "public" && caller.kind === "SECRET" && req.headers["x-public-key"])
    throw new DomainError(
      "UNAUTHENTICATED",
      "X-Public-Key takes a PUBLIC key: a SECRET key must never stand in a web page.",
    );
  if (auth === "key" && ["TOKEN", "VISITOR", "ANALYTICS"].includes(caller.kind))
    throw new DomainError(
      "UNAUTHENTICATED",
      "This path takes an API key in the header X-API-Key; a bearer token is not accepted here.",
    );
  return caller;
}

/** The credential that a web page presents in a header of its own. */
function pageCredential(req: IncomingMessage): Readonly<Record<string, unknown>> | undefined {
  const key = req.headers["x-public-key"];
  const token = req.headers["x-public-token"];
  if (key) return { "x-api-key": key };
  return typeof token === "string" && token !== "" ? { authorization: `Bearer ${token}` } : undefined;
}
