import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../../account/auth/caller";
import type { Credentials } from "../../account/auth/credentials";
import type { Database } from "../../platform/database/database";
import type { Config } from "../../platform/settings/config";
import { clientAddress } from "../limits/client-address";
import type { RateLimits } from "../limits/limits";
import { foreignOrigin } from "./origin";
import { anonymousSettings, settingsAccess } from "./settings-access";
import { VisitorLimits } from "../limits/visitor-limits";

interface Dependencies {
  readonly config: Config;
  readonly database: Pick<Database, "defaultOrganizationId">;
  readonly credentials: Pick<Credentials, "caller">;
  readonly limits: RateLimits;
  readonly publicUrl: () => string;
}

/** Authenticates requests and applies rate limits. */
export class Callers {
  /** IP address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
  private readonly visitorLimits: VisitorLimits;
  private readonly settingsAccess: ReturnType<typeof settingsAccess>;
  private defaultId: string | undefined;

  constructor(private readonly parts: Dependencies) {
    const { config, limits } = parts;
    this.addressOf = clientAddress(config.TRUST_PROXY);
    this.visitorLimits = new VisitorLimits(config.RATE_LIMIT_VISITOR, limits.sourceOf, limits.exchange);
    this.settingsAccess = settingsAccess(config);
  }

  /**
   * Authenticates a request; undefined without a credential.
   * @param headers headers that carry the credential
   * @throws UNAUTHENTICATED, RATE_LIMITED
   */
  async authenticate(
    req: IncomingMessage,
    res: ServerResponse,
    headers: Readonly<Record<string, unknown>> = req.headers,
  ): Promise<Caller | undefined> {
    const { credentials, limits } = this.parts;
    const caller = await credentials.caller(headers).catch((error: unknown) => {
      limits.take(req, res, undefined);
      throw error;
    });
    limits.take(req, res, caller);
    return caller;
  }

  /** The caller for a settings request without a credential. @throws UNAUTHENTICATED, FORBIDDEN */
  async anonymousSettings(req: IncomingMessage): Promise<Caller> {
    return anonymousSettings(
      req,
      this.settingsAccess,
      this.parts.publicUrl(),
      await this.defaultOrganization(),
    );
  }

  /** Id of the default organization; empty if there is none yet. */
  async defaultOrganization(): Promise<string> {
    return (this.defaultId ??= await this.parts.database.defaultOrganizationId()) ?? "";
  }

  /** The origin of the requesting page, and the rate limits of its visitor. */
  visit(req: IncomingMessage, res: ServerResponse, caller: Caller | undefined) {
    return {
      origin: foreignOrigin(req, this.parts.publicUrl),
      spend: (what: Parameters<VisitorLimits["spend"]>[3]) =>
        this.visitorLimits.spend(req, res, caller, what),
    };
  }
}
