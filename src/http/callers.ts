import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../account/auth/caller";
import type { Credentials } from "../account/auth/credentials";
import type { Database } from "../platform/database/database";
import type { Config } from "../platform/settings/config";
import { clientAddress } from "./client-address";
import type { RateLimits } from "./limits";
import { foreignOrigin } from "./origin";
import { anonymousSettings, settingsOpenTo } from "./settings-door";
import { VisitorLimits } from "./visitor-limits";

interface Parts {
  readonly config: Config;
  readonly database: Pick<Database, "defaultOrganizationId">;
  readonly credentials: Pick<Credentials, "caller">;
  readonly limits: RateLimits;
  readonly publicUrl: () => string;
}

/** Finds out who sends a request, and counts it against their limits. */
export class Callers {
  /** Address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
  private readonly visits: VisitorLimits;
  private readonly open: ReturnType<typeof settingsOpenTo>;
  private known: string | undefined;

  constructor(private readonly parts: Parts) {
    const { config, limits } = parts;
    this.addressOf = clientAddress(config.TRUST_PROXY);
    this.visits = new VisitorLimits(config.RATE_LIMIT_VISITOR, limits.sourceOf);
    this.open = settingsOpenTo(config);
  }

  /**
   * The caller of a request; undefined without a credential.
   * @param headers where the credential stands
   * @throws UNAUTHENTICATED, RATE_LIMITED
   */
  async authenticate(
    req: IncomingMessage,
    res: ServerResponse,
    headers: Readonly<Record<string, unknown>> = req.headers,
  ): Promise<Caller | undefined> {
    const { credentials, limits } = this.parts;
    const caller = await credentials.caller(headers).catch(async (error: unknown) => {
      await limits.take(req, res, undefined);
      throw error;
    });
    await limits.take(req, res, caller);
    return caller;
  }

  /** The caller of a request without a credential on the settings paths. @throws UNAUTHENTICATED, FORBIDDEN */
  async anonymousSettings(req: IncomingMessage): Promise<Caller> {
    return anonymousSettings(req, this.open, this.parts.publicUrl(), await this.defaultOrganization());
  }

  /** Id of the default organization; empty while there is none. */
  async defaultOrganization(): Promise<string> {
    return (this.known ??= await this.parts.database.defaultOrganizationId()) ?? "";
  }

  /** The page that a request comes from, and the limits of its visitor. */
  visit(req: IncomingMessage, res: ServerResponse, caller: Caller | undefined) {
    return {
      origin: foreignOrigin(req, this.parts.publicUrl()),
      spend: (what: Parameters<VisitorLimits["spend"]>[3]) => this.visits.spend(req, res, caller, what),
    };
  }
}
