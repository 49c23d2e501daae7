import { currentDate, currentTime } from "../../platform/clock";
import type { Caller, WidgetVisitor } from "../../account/auth/caller";
import { signToken } from "../../account/auth/tokens";
import { signVisitor, verifyVisitor } from "../../account/auth/visitor-tokens";
import { checkOrigin } from "../../assistants/configurations/origins";
import { EndUsers } from "../../chats/chats/end-users";
import { newId } from "../../platform/database/values/ids";
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

/** Lifetimes of a session and of the token that recognizes a browser, in ms. */
const SESSION_MS = 3_600_000;
const VISITOR_MS = 90 * 86_400_000;

/** Sessions of visitors of web pages. */
export class Sessions {
  constructor(private readonly scope: Scope) {}

  /**
   * Starts or renews a session.
   * @param caller credential of the page; the session ends when it does
   * @param origin the origin of the requesting page, if it is cross-origin
   * @throws the errors of `Widgets.of`; FORBIDDEN if the origin is not allowed or a required signature of `uniqueId`
   * is missing
   */
  async start(input: SessionInput, caller: Caller, origin: string | undefined): Promise<WidgetSession> {
    const { uniqueId, uniqueIdSignature, visitorToken } = input;
    const { organizationId, ports } = this.scope;
    const target = targetOf({
      assistantId: input.assistantId,
      deploymentId: input.deploymentId,
    }) as WidgetVisitor["target"]; // one of these two is set
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
    const expiresAt = sessionEnd(caller);
    return {
      token: await signToken(ports.crypto, {
        kind: "VISITOR",
        organizationId,
        keyId: caller.keyId!,
        visitor,
        expiresAt,
      }),
      expiresAt,
      visitorToken: await signVisitor(ports.crypto, { organizationId, id, target }, currentDate(VISITOR_MS)),
      historyAvailable: known !== undefined || signed,
      widget,
    };
  }
}

/** End of a session, in whole seconds as in tokens; a session started with a token ends no later than the token. */
function sessionEnd({ expiresAt: limit }: Caller): Date {
  const wanted = new Date(Math.floor((currentTime() + SESSION_MS) / 1_000) * 1_000);
  return limit !== undefined && limit < wanted ? limit : wanted;
}
