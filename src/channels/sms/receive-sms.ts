import { placeCall } from "../calls/place-call";
import { attachmentNote } from "../../chats/chats/attachments";
import { Chats } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import { ChatStart } from "../../conversation/turns/start-chat";
import type { SmsConfiguration } from "../../assistants/configurations/configurations";
import { PinnedAssistants } from "../../assistants/versions/pinned-assistants";
import { versionIn } from "../../assistants/versions/pins";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { answering } from "../../conversation/workflows/target";
import { Quotas } from "../../account/organization/quotas";
import type { ReceivedSms } from "../../platform/ports/telephony";
import type { TelephonyConnection } from "../../assistants/telephony/connection-row";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { Contact } from "./contacts";
import { Receipts, type Receipt } from "./receipts";
import { enqueueNotice } from "./send-notice";
import { Threads, type LiveThread } from "./threads";
import { firstNamed, FIXED_ANSWERS, commandIn } from "./words";

/** A received text and the number that it was sent to. */
export interface IncomingText {
  readonly connection: Pick<TelephonyConnection, "id" | "phoneNumber">;
  readonly sms: ReceivedSms;
}

type Decision = Pick<Receipt, "chatId" | "sequence" | "answer"> & { readonly outcome: string };

/** Senders that can be texted back; excludes short codes and alphanumeric senders. */
const REACHABLE = /^\+[1-9]\d{6,14}$/;
/** Longest text that is stored, in UTF-16 code units; real texts are much shorter. */
const MAX_LENGTH = 10_000;

/** Processes a received text, after earlier texts of the same person. */
export async function receiveSms(scope: Scope, messageSid: string): Promise<void> {
  const receipts = scope.of(Receipts);
  const receipt = await receipts.of(messageSid);
  const line = receipt && (await scope.of(TelephonyConnections).lineOf(receipt.connectionId));
  if (!line) return;
  const { phoneNumber } = line;
  for (const before of await receipts.before(receipt))
    await processText(scope, phoneNumber, before).catch(() => undefined); // its own job retries
  await processText(scope, phoneNumber, receipt);
}

/** Processes a text once; its effects and its outcome are stored in one transaction. */
async function processText(scope: Scope, ownNumber: string, receipt: Receipt): Promise<void> {
  const { messageSid, connectionId: id, sms } = receipt;
  await scope.transaction(async (scope) => {
    const receipts = scope.of(Receipts);
    const contact = await Contact.lock(scope, { ownNumber, phoneNumber: sms.from });
    const locked = await receipts.lock(messageSid);
    if (!locked || locked.outcome !== null) return;
    const connection = { id, phoneNumber: ownNumber };
    const { answer, ...decision } = await decide(scope, { connection, sms }, contact);
    // If no request waits for the answer, it is sent as separate texts.
    if (locked.answer !== null)
      for (const text of answer ?? []) await enqueueNotice(scope, { connectionId: id, to: sms.from, text });
    await receipts.settle(messageSid, { ...decision, answer: locked.answer ?? answer });
  });
}

const decisionFor = (outcome: string, ...answer: string[]): Decision => ({
  outcome,
  chatId: null,
  sequence: null,
  answer,
});

async function decide(scope: Scope, incoming: IncomingText, contact: Contact): Promise<Decision> {
  const { sms } = incoming;
  if (!REACHABLE.test(sms.from)) return decisionFor("unreachable");
  const command = sms.answered ?? commandIn(sms.text, contact.optedOut);
  if (command === "STOP") return stop(scope, incoming, contact);
  if (command === "START") {
    await contact.setOptedOut(false);
    return fixedAnswer("started", FIXED_ANSWERS.started, sms, contact);
  }
  if (command === "HELP") return fixedAnswer("help", FIXED_ANSWERS.help, sms, contact);
  if (contact.optedOut) return decisionFor("opted-out");
  if (sms.text === "" && sms.attachments === 0) return decisionFor("empty");
  return converse(scope, incoming, contact, command === "CALL");
}

/** Sends a fixed answer, unless the provider has sent its own or the limit of answers is reached. */
async function fixedAnswer(
  outcome: string,
  text: string,
  sms: ReceivedSms,
  contact: Contact,
): Promise<Decision> {
  if (sms.answered) return decisionFor(outcome);
  return (await contact.mayAnswer()) ? decisionFor(outcome, text) : decisionFor(outcome);
}

async function stop(scope: Scope, { connection, sms }: IncomingText, contact: Contact): Promise<Decision> {
  const wasOptedOut = contact.optedOut;
  await contact.setOptedOut(true);
  for (const { chatId } of await scope.of(Threads).live(connection.id, sms.from))
    await scope.of(Chats).endIfLive(chatId, "opted-out");
  return wasOptedOut ? decisionFor("stopped") : fixedAnswer("stopped", FIXED_ANSWERS.stopped, sms, contact);
}

async function converse(
  scope: Scope,
  incoming: IncomingText,
  contact: Contact,
  wantsCall: boolean,
): Promise<Decision> {
  const { connection, sms } = incoming;
  const found = await route(scope, incoming);
  if (!found) return decisionFor("no-assistant");
  const { assistantId, configuration } = found;
  if (!configuration.smsMode) return fixedAnswer("switched-off", FIXED_ANSWERS.switchedOff, sms, contact);
  const calls = wantsCall && (await mayCall(scope, found));
  const chatId = await unlessFull(chatOf(scope, incoming, found, calls));
  if (chatId === undefined) return fixedAnswer("quota-exceeded", FIXED_ANSWERS.busy, sms, contact);
  const answers = await contact.mayAnswer();
  const metadata = {
    messageSid: sms.messageSid,
    ...(sms.attachments > 0 && { attachments: sms.attachments, attachmentTypes: sms.attachmentTypes ?? [] }),
  };
  const message = await scope.of(Messages).postIfLive({
    aiChatId: chatId,
    role: "USER",
    channel: "SMS",
    content:
      sms.text.slice(0, MAX_LENGTH).toWellFormed() || attachmentNote(sms.attachments, sms.attachmentTypes),
    metadata,
    unanswered: !answers || calls,
  });
  // The chat has just ended: the next text starts a new one.
  if (!message) return decisionFor("chat-ended");
  if (!answers) return { ...decisionFor("too-many"), chatId };
  if (calls) await callBack(scope, connection.id, { chatId, assistantId, phoneNumber: sms.from });
  return { outcome: calls ? "call" : "turn", chatId, sequence: message.sequence, answer: null };
}

/** Whether the assistant calls people who ask for it, in the version of the live chat if there is one. */
async function mayCall(scope: Scope, { assistantId, configuration, chatId }: Route): Promise<boolean> {
  const chat = chatId === undefined ? undefined : await scope.of(Chats).row(chatId);
  if (!chat) return configuration.voiceCallMode;
  const pinned = scope.of(PinnedAssistants);
  const assistant = await pinned.in(chat, assistantId);
  return (await pinned.configuration("sms", assistant)).voiceCallMode;
}

/** Continues the live chat or starts a new one. @throws QUOTA_EXCEEDED before anything is stored */
async function chatOf(scope: Scope, incoming: IncomingText, found: Route, calls: boolean): Promise<string> {
  await scope.of(Quotas).checkStorage();
  return found.chatId ?? open(scope, incoming, found, calls);
}

/** Undefined if a quota is exceeded; nothing has been stored then. */
const unlessFull = (opening: Promise<string>): Promise<string | undefined> =>
  opening.catch((error: unknown) => {
    if (error instanceof DomainError && error.code === "QUOTA_EXCEEDED") return undefined;
    throw error;
  });

interface Route {
  readonly assistantId: string;
  /** The deployment of the number; absent if the number is assigned to the assistant directly. */
  readonly deploymentId?: string;
  readonly configuration: SmsConfiguration;
  /** The live chat to continue. */
  readonly chatId?: string;
}

/**
 * Chooses who answers: the assistant with the first keyword in the text, else the one that the person is talking to,
 * else the first of the number.
 */
async function route(scope: Scope, { connection, sms }: IncomingText): Promise<Route | undefined> {
  const assistants = await scope.of(TelephonyConnections).assistants(connection.id);
  const live = await scope.of(Threads).live(connection.id, sms.from);
  const all = [
    ...assistants.map((assistant) => ({ assistant })),
    ...(await deployedAssistants(scope, connection.id, live)),
  ];
  const candidates = await Promise.all(
    all.map(async ({ assistant, ...by }) => {
      const configuration = await scope.of(PinnedAssistants).configuration("sms", assistant);
      return { assistantId: assistant.id, ...by, configuration, keywords: configuration.keywords };
    }),
  );
  const talking = candidates.find(({ assistantId }) => assistantId === live[0]?.assistantId);
  const chosen = firstNamed(sms.text.slice(0, MAX_LENGTH), candidates) ?? talking ?? candidates[0];
  if (!chosen) return undefined;
  const thread = live.find(({ assistantId }) => assistantId === chosen.assistantId);
  return { ...chosen, ...(thread && { chatId: thread.chatId }) };
}

/**
 * The assistants of the number's SMS deployments. A live chat with a workflow keeps the one that it began with, whatever
 * changes in the workflow; other deployments that cannot run now are skipped.
 */
async function deployedAssistants(scope: Scope, connectionId: string, live: readonly LiveThread[]) {
  const found = await answering(scope, connectionId, "SMS", "text with the copy");
  const each = found.map(async ({ deployment: { id: deploymentId, workflowId }, target }) => {
    const mine = (one: LiveThread) => one.deploymentId === deploymentId && one.workflowId === workflowId;
    const thread = workflowId === null ? undefined : live.find(mine);
    const chat = thread && (await scope.of(Chats).row(thread.chatId));
    if (chat) return [{ assistant: await scope.of(PinnedAssistants).in(chat), deploymentId }];
    return target instanceof DomainError ? [] : [{ assistant: target.assistant, deploymentId }];
  });
  return (await Promise.all(each)).flat();
}

/** Spec gap: an assistant greets a person on their first text, not in each chat, and not before it calls them. */
async function open(
  scope: Scope,
  { connection, sms }: IncomingText,
  { assistantId, deploymentId }: Pick<Route, "assistantId" | "deploymentId">,
  calls: boolean,
): Promise<string> {
  const threads = scope.of(Threads);
  const thread = { connectionId: connection.id, assistantId, phoneNumber: sms.from };
  const greets = !calls && !(await threads.exists(thread));
  const target = deploymentId === undefined ? { assistantId } : { deploymentId };
  const start = { ...target, channel: "SMS", phoneNumber: sms.from, greets, mayRefuse: false } as const;
  const { id: chatId } = await scope.of(ChatStart).start(start);
  await threads.open({ ...thread, chatId });
  return chatId;
}

/** Calls the person back with the assistant that they texted, in the same version. */
async function callBack(
  scope: Scope,
  connectionId: string,
  { chatId, assistantId, phoneNumber }: { chatId: string; assistantId: string; phoneNumber: string },
): Promise<void> {
  const callee = { metadata: { requestedBy: "sms", chatId }, mayRefuse: false };
  const chat = await scope.of(Chats).row(chatId);
  const target = { assistantId, assistantVersion: chat && versionIn(chat, assistantId) };
  const text = await placeCall(scope, target, phoneNumber, callee, connectionId)
    .then(() => FIXED_ANSWERS.calling)
    .catch((error: unknown) => {
      // Both errors occur before anything is stored. BAD_USER_INPUT: the number's country or kind may not be called.
      if (error instanceof DomainError && error.code === "BAD_USER_INPUT") return FIXED_ANSWERS.notCallable;
      if (error instanceof DomainError && error.code === "QUOTA_EXCEEDED") return FIXED_ANSWERS.busy;
      throw error;
    });
  const answer = { aiChatId: chatId, role: "ASSISTANT", channel: "SMS", content: text } as const;
  await scope.of(Messages).postIfLive({ ...answer, metadata: {} });
}
