import { currentDate } from "../../platform/clock";
import { signToken } from "../../account/auth/tokens";
import { Chats } from "../../chats/chats/chats";
import { logChatError } from "../../chats/chats/log-chat-error";
import { Configurations } from "../../assistants/configurations/configurations";
import { checkOrigin } from "../../assistants/configurations/origins";
import type { Scope } from "../../platform/database/scope";
import { Deadline } from "../../platform/outbound/deadline";
import { DomainError } from "../../platform/errors";
import { CallRefused } from "../../platform/ports/voice-engine";
import { beginChat, speakerOf } from "../../conversation/workflows/speaker";
import type { ResolvedTarget } from "../../conversation/workflows/target";
import { Calls, PAGE } from "./calls";
import { enqueueWatch } from "./jobs";
import { orderOf } from "./order";
import { openCall, type Callee } from "./place-call";
import { lookupOf, storeLookups } from "./secrets";
import { resolveTarget, type CallTarget } from "./target";

/** Time for the engine to open a web call, in ms: less than the time that the whole request may take. */
const OPEN_TIMEOUT_MS = 8_000;

export interface WebCall {
  readonly id: string;
  /** Address of the page that conducts the call. */
  readonly webCallUrl: string;
}

const WEB = { kind: "WEB", line: null, phoneNumber: null } as const;

/**
 * Opens a call from a web page: at the engine, or in the widget's own page if the engine has no web calls.
 * @param keyId the API key of the caller; the page can conduct the call as long as the key is valid
 * @param origin the origin of the requesting page, if it is cross-origin
 * @throws ASSISTANT_NOT_FOUND, WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, TEMPLATE_READ_ONLY, QUOTA_EXCEEDED,
 * MISSING_VARIABLES;
 * FORBIDDEN if the origin is not allowed; CHANNEL_DISABLED if the theme's mode excludes voice; UNAVAILABLE if the
 * engine does not open the call
 */
export async function startWebCall(
  scope: Scope,
  target: CallTarget,
  callee: Callee,
  keyId: string,
  origin: string | undefined,
): Promise<WebCall> {
  const resolved = await resolveTarget(scope, target, callee.variables);
  await checkPage(scope, resolved, origin);
  if (scope.ports.voice.engine.web) return openEngineCall(scope, resolved, callee);
  const id = await openPageCall(scope, resolved, callee);
  return { id, webCallUrl: await pageUrl(scope, id, keyId) };
}

/** Checks that the page may show the assistant and that the assistant's theme offers voice. */
async function checkPage(
  scope: Scope,
  { assistant }: ResolvedTarget,
  origin: string | undefined,
): Promise<void> {
  const { allowedOrigins, mode } = await scope.of(Configurations).of("theme", assistant);
  checkOrigin(allowedOrigins, origin);
  if (mode === "CHAT_ONLY")
    throw new DomainError(
      "CHANNEL_DISABLED",
      "The assistant's theme has mode CHAT_ONLY, which excludes calls from web pages. Change it with updateThemeConfiguration.",
    );
}

/** Opens a call in the widget's own page, with the browser's speech functions. @returns its id */
export async function openPageCall(scope: Scope, resolved: ResolvedTarget, callee: Callee): Promise<string> {
  return scope.transaction(async (scope) => {
    const id = await openCall(scope, resolved, callee, { ...WEB, engine: PAGE, status: "in-progress" });
    const chat = (await scope.of(Chats).row(id))!; // stored by the line above
    await beginChat(scope, chat, resolved.flow);
    await enqueueWatch(scope, id, latestEnd(scope));
    return id;
  });
}

/** Opens a call at the engine, which must support web calls. @throws UNAVAILABLE if the engine does not open it */
export async function openEngineCall(
  scope: Scope,
  resolved: ResolvedTarget,
  callee: Callee,
): Promise<WebCall> {
  const { engine, silenceMs, timeoutMs } = scope.ports.voice;
  const deadline = new Deadline(Math.min(timeoutMs, OPEN_TIMEOUT_MS));
  const id = await scope.transaction(async (scope) => {
    const id = await openCall(scope, resolved, callee, { ...WEB, engine: engine.name, status: "queued" });
    await enqueueWatch(scope, id, currentDate(silenceMs));
    return id;
  });
  return { id, webCallUrl: await openAtEngine(scope, id, deadline) };
}

/** Latest end of a call that starts now. */
const latestEnd = ({ ports }: Scope) => currentDate(ports.voice.maxSeconds * 1_000);

/** Address of the widget's call page. The session is in the fragment, which browsers do not send to servers. */
async function pageUrl(scope: Scope, chatId: string, keyId: string): Promise<string> {
  const { organizationId, ports } = scope;
  const session = {
    kind: "VISITOR",
    organizationId,
    keyId,
    visitor: { chatId },
    expiresAt: latestEnd(scope),
  } as const;
  const token = await signToken(ports.crypto, session);
  return `${ports.publicUrl()}/widget/voice?chat=${chatId}#token=${token}`;
}

/** Stores the engine's answer. A call that has ended in the meantime is hung up. */
async function storeOpenedCall(scope: Scope, chatId: string, engineCallId: string): Promise<void> {
  const ended = await scope.transaction(async (scope) => {
    const [chat] = await scope.table("chats").where({ id: chatId }).forUpdate();
    const now = scope.now();
    const changes = { engineCallId, dialedAt: now, dialingSince: now, askedAt: now };
    await scope.table("calls").where({ chatId }).update(changes);
    await storeLookups(scope, chatId, [lookupOf("engine", engineCallId)]);
    if (chat?.status === "ended") await scope.enqueue("call.hangUp", { chatId });
    return chat?.status === "ended";
  });
  if (ended) throw new CallRefused("The call had ended before the engine opened it.");
}

/** Opens the call within the request, not in a job: a browser waits for it, and nobody is dialed. */
async function openAtEngine(scope: Scope, chatId: string, deadline: Deadline): Promise<string> {
  const { engine } = scope.ports.voice;
  const chat = (await scope.of(Chats).row(chatId))!; // stored by the caller
  const call = (await scope.of(Calls).row(chatId))!; // stored by the caller
  try {
    const speaker = await speakerOf(scope, chat);
    if ("ending" in speaker) throw new CallRefused("The workflow has ended.", speaker.ending.reason);
    const order = await orderOf(scope, speaker, call);
    const { id, url } = await engine.web!(order, deadline.signal());
    await storeOpenedCall(scope, chatId, id);
    return url;
  } catch (error) {
    const reason = error instanceof CallRefused ? error.reason : "engine-unreachable";
    await logChatError(scope, chatId, error as Error);
    await scope.transaction((scope) => scope.of(Chats).endIfLive(chatId, reason, { hangUp: false }));
    throw new DomainError("UNAVAILABLE", "The voice engine did not open the call. Try again.");
  }
}
