import { currentDate, currentTime } from "../../platform/clock";
import type { Caller, WidgetVisitor } from "../../account/auth/caller";
import { signToken } from "../../account/auth/tokens";
import { signVisitor, verifyVisitor } from "../../account/auth/visitor-tokens";
import { checkOrigin } from "../../assistants/configurations/origins";
import { EndUsers } from "../../chats/chats/end-users";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { targetOf } from "../../conversation/workflows/target";
import { Widgets, type Widget } from "./widgets";

export interface SessionInput {
  readonly assistantId?: string | null;
  readonly deploymentId?: string | null;
  readonly uniqueId?: string | null;
  readonly uniqueIdSignature?: string | null;
  readonly visitorToken?: string | null;
}

export interface WidgetSession {
  readonly token: string;
  readonly expiresAt: Date;
  readonly visitorToken: string;
  readonly historyAvailable: boolean;
  readonly widget: Widget;
}

/** How long a session lasts, and how long a browser is known, in milliseconds. */
const SESSION = 3_600_000;
const VISITOR = 90 * 86_400_000;

/** The sessions of visitors of web pages. */
export class Sessions {
  constructor(private readonly scope: Scope) {}

  /**
   * Begins or renews a session.
   * @param caller the key of the page; the session ends with it
   * @param origin of the page that asks, where it is another site's
   * @throws what `Widgets.of` throws; FORBIDDEN for an origin that is not allowed, and for a `uniqueId` that isn't
   * signed where it must be
   */
  async start(input: SessionInput, caller: Caller, origin: string | undefined): Promise<WidgetSession> {
    const { uniqueId, uniqueIdSignature, visitorToken } = input;
    const { organizationId, ports } = this.scope;
    const target = targetOf({
      assistantId: input.assistantId,
      deploymentId: input.deploymentId,
    }) as WidgetVisitor["target"]; // one of these two
    const widget = await this.scope.of(Widgets).of(target);
    checkOrigin(widget.allowedOrigins, origin);
    if (uniqueId != null) await this.scope.of(EndUsers).checkIdentity(uniqueId, uniqueIdSignature);
    const known =
      visitorToken == null
        ? undefined
        : await verifyVisitor(ports.crypto, visitorToken, { organizationId, target });
    const id = known ?? newId();
    const signed = uniqueId != null && uniqueIdSignature != null;
    const visitor = { id, target, signed, ...(uniqueId != null && { uniqueId }) };
    const expiresAt = ending(caller);
    return {
      token: await signToken(ports.crypto, {
        kind: "VISITOR",
        organizationId,
        keyId: caller.keyId!,
        visitor,
        expiresAt,
      }),
      expiresAt,
      visitorToken: await signVisitor(ports.crypto, { organizationId, id, target }, currentDate(VISITOR)),
      historyAvailable: known !== undefined || signed,
      widget,
    };
  }
}

/** A session that a token began ends no later than that; whole seconds, as tokens have them. */
function ending({ expiresAt: limit }: Caller): Date {
  const wanted = new Date(Math.floor((currentTime() + SESSION) / 1_000) * 1_000);
  return limit !== undefined && limit < wanted ? limit : wanted;
}
