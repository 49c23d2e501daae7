import { signSession } from "../auth/sessions";
import { Chats, type ChatRow } from "../chats/chats";
import { keepError } from "../chats/keep-error";
import type { Scope } from "../database/scope";
import { DomainError } from "../errors";
import { CallRefused } from "../ports/voice-engine";
import { begin, speakerOf } from "../workflows/speaker";
import { Calls } from "./calls";
import { enqueueWatch } from "./jobs";
import { orderOf } from "./order";
import { openCall, type Callee } from "./place-call";
import { lookupOf, remember } from "./secrets";
import { resolveTarget, type CallTarget } from "./target";

/** Whose page holds a call that no engine does. */
const PAGE = "page";
/** Of the time that an answer may take, this much waits for the engine, in milliseconds. */
const PATIENCE = 8_000;

export interface WebCall {
  readonly id: string;
  /** Where a browser holds it. */
  readonly webCallUrl: string;
}

/**
 * Opens a call from a web page: at the engine, or on the widget's own page where the engine has none.
 * @throws ASSISTANT_NOT_FOUND, WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, TEMPLATE_READ_ONLY; UNAVAILABLE when the engine does not open it
 */
export async function startWebCall(scope: Scope, target: CallTarget, callee: Callee): Promise<WebCall> {
  const resolved = await resolveTarget(scope, target, callee.variables);
  const { engine } = scope.ports.voice;
  const kind = { kind: "WEB", line: null, phoneNumber: null } as const;
  if (!engine.web) {
    const opened = { ...kind, engine: PAGE, status: "in-progress" } as const;
    return scope.transaction(async (scope) => {
      const id = await openCall(scope, resolved, callee, opened);
      const [chat] = (await scope.table("chats").where({ id })) as [ChatRow];
      await begin(scope, chat, resolved.flow);
      return { id, webCallUrl: await pageOf(scope, id) };
    });
  }
  const opened = { ...kind, engine: engine.name, status: "queued" } as const;
  const id = await scope.transaction(async (scope) => {
    const id = await openCall(scope, resolved, callee, opened);
    await enqueueWatch(scope, id, new Date(Date.now() + scope.ports.voice.silence));
    return id;
  });
  return { id, webCallUrl: await openAtEngine(scope, id) };
}

/** The fragment keeps the session from servers and their logs. */
async function pageOf(scope: Scope, chatId: string): Promise<string> {
  const { organizationId, ports } = scope;
  const expiresAt = new Date(Date.now() + ports.voice.maxSeconds * 1_000);
  const session = await signSession(ports.crypto, { organizationId, chatId, expiresAt });
  return `${ports.publicUrl()}/widget/voice?chat=${chatId}#token=${session}`;
}

/** Nobody is called by it: a browser comes to it, so that it is asked for at once and not by a job. */
async function openAtEngine(scope: Scope, chatId: string): Promise<string> {
  const { engine, timeout } = scope.ports.voice;
  const [chat] = (await scope.table("chats").where({ id: chatId })) as [ChatRow];
  const call = (await scope.of(Calls).row(chatId))!; // stored before
  try {
    const speaker = await speakerOf(scope, chat);
    if ("ending" in speaker) throw new CallRefused("The workflow has ended.", speaker.ending.reason);
    const signal = AbortSignal.timeout(Math.min(timeout, PATIENCE));
    const { id, url } = await engine.web!(await orderOf(scope, speaker, call), signal);
    const now = new Date();
    await scope
      .of(Calls)
      .change(chatId, { engineCallId: id, dialedAt: now, dialingSince: now, askedAt: now });
    await remember(scope, chatId, [lookupOf("engine", id)]);
    return url;
  } catch (error) {
    const reason = error instanceof CallRefused ? error.reason : "engine-unreachable";
    await keepError(scope, chatId, error as Error);
    await scope.transaction((scope) => scope.of(Chats).endIfLive(chatId, reason, false));
    throw new DomainError("UNAVAILABLE", "The voice engine did not open the call. Try again.");
  }
}
