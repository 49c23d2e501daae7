import { placeCall } from "../calls/place-call";
import { attachmentNote } from "../../chats/chats/attachments";
import { Chats } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import { ChatStart } from "../../conversation/turns/start-chat";
import { Configurations, type SmsConfiguration } from "../../assistants/configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { Deployments } from "../../conversation/workflows/deployments";
import { resolve } from "../../conversation/workflows/target";
import { Quotas } from "../../account/organization/quotas";
import type { ReceivedSms } from "../../platform/ports/telephony";
import type { TelephonyConnection } from "../../assistants/telephony/connection-row";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { Contact } from "./contacts";
import { Receipts, type Receipt } from "./receipts";
import { enqueueSentence } from "./tell-by-sms";
import { Threads } from "./threads";
import { firstNamed, SENTENCES, wishIn } from "./words";

/** A text, and the number that it came to. */
export interface Arrival {
  readonly connection: Pick<TelephonyConnection, "id" | "phoneNumber">;
  readonly sms: ReceivedSms;
}

type Decision = Pick<Receipt, "chatId" | "sequence" | "answer"> & { readonly outcome: string };

/** Who can be texted back. Short codes and names can't. */
const REACHABLE = /^\+[1-9]\d{6,14}$/;
/** Longest text that is kept; a text of a telephone is much shorter. */
const LONGEST = 10_000;

/** Deals with a text that came in, behind those of the same person that came before it. */
export async function receiveSms(scope: Scope, messageSid: string): Promise<void> {
  const receipts = scope.of(Receipts);
  const receipt = await receipts.of(messageSid);
  const line = receipt && (await scope.of(TelephonyConnections).lineOf(receipt.connectionId));
  if (!line) return;
  const { phoneNumber } = line;
  for (const before of await receipts.before(receipt))
    await deal(scope, phoneNumber, before).catch(() => undefined); // a job of its own tries again
  await deal(scope, phoneNumber, receipt);
}

/** Deals with a text once: what it leads to is stored together with that it was dealt with. */
async function deal(scope: Scope, ownNumber: string, receipt: Receipt): Promise<void> {
  const { messageSid, connectionId: id, sms } = receipt;
  await scope.transaction(async (scope) => {
    const receipts = scope.of(Receipts);
    const contact = await Contact.hold(scope, { ownNumber, phoneNumber: sms.from });
    const held = await receipts.hold(messageSid);
    if (!held || held.outcome !== null) return;
    const connection = { id, phoneNumber: ownNumber };
    const { answer, ...decision } = await decide(scope, { connection, sms }, contact);
    // Where no request waits any more, what it would have been answered is sent.
    if (held.answer !== null)
      for (const text of answer ?? []) await enqueueSentence(scope, { connectionId: id, to: sms.from, text });
    await receipts.settle(messageSid, { ...decision, answer: held.answer ?? answer });
  });
}

const said = (outcome: string, ...answer: string[]): Decision => ({
  outcome,
  chatId: null,
  sequence: null,
  answer,
});

async function decide(scope: Scope, arrival: Arrival, contact: Contact): Promise<Decision> {
  const { sms } = arrival;
  if (!REACHABLE.test(sms.from)) return said("unreachable");
  const wish = sms.answered ?? wishIn(sms.text, contact.optedOut);
  if (wish === "STOP") return stop(scope, arrival, contact);
  if (wish === "START") {
    await contact.setOptedOut(false);
    return sentence("started", SENTENCES.started, sms, contact);
  }
  if (wish === "HELP") return sentence("help", SENTENCES.help, sms, contact);
  if (contact.optedOut) return said("opted-out");
  if (sms.text === "" && sms.attachments === 0) return said("empty");
  return converse(scope, arrival, contact, wish === "CALL");
}

/** A fixed answer, where the provider has not given its own, and not too many were given. */
async function sentence(
  outcome: string,
  text: string,
  sms: ReceivedSms,
  contact: Contact,
): Promise<Decision> {
  if (sms.answered) return said(outcome);
  return (await contact.mayAnswer()) ? said(outcome, text) : said(outcome);
}

async function stop(scope: Scope, { connection, sms }: Arrival, contact: Contact): Promise<Decision> {
  const before = contact.optedOut;
  await contact.setOptedOut(true);
  for (const { chatId } of await scope.of(Threads).live(connection.id, sms.from))
    await scope.of(Chats).endIfLive(chatId, "opted-out");
  return before ? said("stopped") : sentence("stopped", SENTENCES.stopped, sms, contact);
}

async function converse(
  scope: Scope,
  arrival: Arrival,
  contact: Contact,
  wantsCall: boolean,
): Promise<Decision> {
  const { connection, sms } = arrival;
  const found = await route(scope, arrival);
  if (!found) return said("no-assistant");
  const { assistantId, configuration } = found;
  if (!configuration.smsMode) return sentence("switched-off", SENTENCES.switchedOff, sms, contact);
  const calls = wantsCall && configuration.voiceCallMode;
  const chatId = await unlessFull(chatOf(scope, arrival, found, calls));
  if (chatId === undefined) return sentence("quota-exceeded", SENTENCES.busy, sms, contact);
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
      sms.text.slice(0, LONGEST).toWellFormed() || attachmentNote(sms.attachments, sms.attachmentTypes),
    metadata,
    unanswered: !answers || calls,
  });
  // It ended just now: the next text opens another.
  if (!message) return said("chat-ended");
  if (!answers) return { ...said("too-many"), chatId };
  if (calls) await callBack(scope, connection.id, { chatId, assistantId, phoneNumber: sms.from });
  return { outcome: calls ? "call" : "turn", chatId, sequence: message.sequence, answer: null };
}

/** The live chat that goes on, or a new one. @throws QUOTA_EXCEEDED before anything is stored */
async function chatOf(scope: Scope, arrival: Arrival, found: Routed, calls: boolean): Promise<string> {
  await scope.of(Quotas).checkStorage();
  return found.chatId ?? open(scope, arrival, found, calls);
}

/** Undefined if the organization may store no more, or have no more live chats: then nothing was stored. */
const unlessFull = (opening: Promise<string>): Promise<string | undefined> =>
  opening.catch((error: unknown) => {
    if (error instanceof DomainError && error.code === "QUOTA_EXCEEDED") return undefined;
    throw error;
  });

interface Routed {
  readonly assistantId: string;
  /** By which the assistant answers; without it the number names the assistant itself. */
  readonly deploymentId?: string;
  readonly configuration: SmsConfiguration;
  /** The live chat that goes on. */
  readonly chatId?: string;
}

/** Who answers: whose keyword the text holds first, else who talks with the person, else the first of the number. */
async function route(scope: Scope, { connection, sms }: Arrival): Promise<Routed | undefined> {
  const assistants = await scope.of(TelephonyConnections).assistants(connection.id);
  const answering = [
    ...assistants.map((assistant) => ({ assistant })),
    ...(await deployed(scope, connection.id)),
  ];
  const candidates = await Promise.all(
    answering.map(async ({ assistant, ...by }) => {
      const configuration = await scope.of(Configurations).of("sms", assistant);
      return { assistantId: assistant.id, ...by, configuration, keywords: configuration.keywords };
    }),
  );
  const live = await scope.of(Threads).live(connection.id, sms.from);
  const talking = candidates.find(({ assistantId }) => assistantId === live[0]?.assistantId);
  const chosen = firstNamed(sms.text.slice(0, LONGEST), candidates) ?? talking ?? candidates[0];
  if (!chosen) return undefined;
  const thread = live.find(({ assistantId }) => assistantId === chosen.assistantId);
  return { ...chosen, ...(thread && { chatId: thread.chatId }) };
}

/** Who answers by SMS deployments of the number; one that can't run now is passed over. */
async function deployed(scope: Scope, connectionId: string) {
  const purpose = { instead: "text with the copy", check: () => undefined };
  const found = await Promise.all(
    (await scope.of(Deployments).on(connectionId, "SMS")).map(({ id: deploymentId }) =>
      resolve(scope, { deploymentId }, {}, purpose).catch((error: unknown) => {
        if (error instanceof DomainError) return undefined;
        throw error;
      }),
    ),
  );
  return found.flatMap((one) => (one ? [{ assistant: one.assistant, deploymentId: one.deploymentId! }] : []));
}

/** Spec gap: an assistant greets a person who texts when it meets them, not in each chat, and not before it calls them. */
async function open(
  scope: Scope,
  { connection, sms }: Arrival,
  { assistantId, deploymentId }: Pick<Routed, "assistantId" | "deploymentId">,
  calls: boolean,
): Promise<string> {
  const threads = scope.of(Threads);
  const thread = { connectionId: connection.id, assistantId, phoneNumber: sms.from };
  const greets = !calls && !(await threads.met(thread));
  const target = deploymentId === undefined ? { assistantId } : { deploymentId };
  const start = { ...target, channel: "SMS", phoneNumber: sms.from, greets } as const;
  const { id: chatId } = await scope.of(ChatStart).start(start);
  await threads.open({ ...thread, chatId });
  return chatId;
}

/** Calls the person with the assistant that they texted. */
async function callBack(
  scope: Scope,
  connectionId: string,
  { chatId, assistantId, phoneNumber }: { chatId: string; assistantId: string; phoneNumber: string },
): Promise<void> {
  const metadata = { requestedBy: "sms", chatId };
  const text = await placeCall(scope, { assistantId }, phoneNumber, { metadata }, connectionId)
    .then(() => SENTENCES.calling)
    .catch((error: unknown) => {
      // Both are refused before anything is stored. The number is of a country or a kind that is not called:
      if (error instanceof DomainError && error.code === "BAD_USER_INPUT") return SENTENCES.notCallable;
      if (error instanceof DomainError && error.code === "QUOTA_EXCEEDED") return SENTENCES.busy;
      throw error;
    });
  const answer = { aiChatId: chatId, role: "ASSISTANT", channel: "SMS", content: text } as const;
  await scope.of(Messages).postIfLive({ ...answer, metadata: {} });
}
