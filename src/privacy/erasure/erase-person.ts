import { Chats } from "../../chats/chats/chats";
import { indexable } from "../../platform/database/values/long-texts";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { DomainError } from "../../platform/errors";
import { filesNaming, textsFrom } from "../people/by-index";
import { withdrawExports } from "../people/withdraw";
import { Files } from "../../assistants/files/files";
import { forgetAnswers } from "../../account/organization/forget-answers";
import { eraseTextsAtProvider } from "./at-providers";
import { DigestKey, digesting } from "../people/digests";
import { chatsOf, IDENTIFIER_KINDS, isRemembered, reachOf, type Person, type Reach } from "../people/person";
import { CHAT_BATCH_SIZE, removeChats, type Count, type RemovedChat } from "./remove-chats";

/** Live chats ended per round. */
const LIVE_BATCH_SIZE = 50;

/** A running erasure. */
interface RunningErasure {
  readonly until: string;
  readonly count: Count;
  readonly erasureId: string;
}

/**
 * Erases the data of a person up to a moment. Every step continues where it stopped, so that an interrupted erasure
 * can be repeated. Chats are removed last, because they lead to all other data.
 */
export async function erasePerson(
  scope: Scope,
  person: Person,
  { until, count, erasureId }: RunningErasure,
): Promise<void> {
  await endLive(scope, person, until);
  const reach = await reachOf(scope, person, until);
  const { chatIds: ids, names } = reach;
  const digests = await digestsOf(scope, names);
  await scope.transaction((scope) => withdraw(scope, digests, count));
  await forgetAnswers(scope, [...names, ...ids]);
  await scope.write(FORGET_JOBS, [ids, person.kind === "phoneNumber" ? person.value : null]);
  await removeFiles(scope, reach, count);
  for (let at = 0; at < ids.length; at += CHAT_BATCH_SIZE)
    await removeChats(scope, ids.slice(at, at + CHAT_BATCH_SIZE), {
      count,
      erasureId,
      also: (scope, removed) => forgetFacts(scope, namesIn(removed), until, count),
    });
  await forgetAnswers(scope, [...names, ...ids]); // of requests that read the chats until now
  await scope.transaction(async (scope) => {
    await withdraw(scope, digests, count);
    if (isRemembered(person)) await forgetFacts(scope, [person.value], until, count);
    await scope.table("assistant_versions").whereIn("userId", names).update({ userId: null });
    await scope.write(FORGET_CREATOR, [names]);
    if (person.kind === "phoneNumber") await removeTexts(scope, person.value, { until, count, erasureId });
  });
}

/** Withdraws exports, finished or not, for a person known by one of these names. */
const withdraw = async (scope: Scope, digests: readonly string[], count: Count): Promise<void> =>
  count(scope, { exports: await withdrawExports(scope, { digests }) });

/** Digests of each name as an identifier of every kind. */
async function digestsOf(scope: Scope, names: readonly string[]): Promise<string[]> {
  const digest = digesting(scope, await scope.of(DigestKey).sealed());
  return names.flatMap((value) => IDENTIFIER_KINDS.map((kind) => digest({ kind, value })));
}

const FORGET_CREATOR = statement(({ db }) =>
  db.raw(`
  update assistants set created_by = created_by - 'userId'
  where assistants.organization_id = $1 and created_by->>'userId' = any($2::text[])`),
);

/** Deletes waiting jobs for one of these chats or the phone number. */
const FORGET_JOBS = statement(({ db }) => db.raw("select parley_forget_jobs($1, $2::text[], $3)"));

const namesIn = (chats: readonly RemovedChat[]): string[] => [
  ...new Set(chats.flatMap(({ uniqueId }) => uniqueId ?? [])),
];

async function endLive(scope: Scope, person: Person, until: string): Promise<void> {
  for (;;) {
    const live = chatsOf(scope, person, until)
      .whereNot({ status: "ended" })
      .select("id")
      .limit(LIVE_BATCH_SIZE);
    const ids = (await live).map(({ id }) => id);
    if (ids.length === 0) return;
    for (const id of ids) await scope.transaction((scope) => scope.of(Chats).endIfLive(id, "erased"));
  }
}

/**
 * Deletes the assistants' memory of these end users. A turn that is still running cannot add to it, because its chat
 * is removed.
 */
async function forgetFacts(
  scope: Scope,
  uniqueIds: readonly string[],
  until: string,
  count: Count,
): Promise<void> {
  const rows = await scope
    .table("end_users")
    .whereIn("uniqueId", uniqueIds.map(indexable))
    .where("createdAt", "<=", until)
    .delete()
    .returning(["facts", "context", "signedContext"]);
  const facts = rows.reduce((sum, row) => sum + row.facts.length, 0);
  await count(scope, {
    facts,
    contexts: rows.flatMap((row) => [row.context, row.signedContext]).filter((text) => text !== null).length,
  });
}

async function removeFiles(scope: Scope, reach: Reach, count: Count): Promise<void> {
  for (const id of await filesNaming(scope, reach)) {
    await scope.of(Files).remove(id).catch(ignoreMissing);
    await count(scope, { files: 1 });
  }
}

function ignoreMissing(error: Error): void {
  if (!(error instanceof DomainError)) throw error;
}

/** Removes texts from and to a number outside any chat, and the contact of the number. */
async function removeTexts(
  scope: Scope,
  phoneNumber: string,
  { until, count, erasureId }: RunningErasure,
): Promise<void> {
  const sids = await textsFrom(scope, phoneNumber);
  const received = scope.table("sms_received").whereRaw("message_sid = any(?::text[])", [sids]);
  const sent = scope.table("sms_sent").where({ phoneNumber }).whereNull("chatId");
  const removed: StoredText[] = [];
  removed.push(
    ...(await received.where("createdAt", "<=", until).delete().returning(["connectionId", "messageSid"])),
    ...(await sent.where("createdAt", "<=", until).delete().returning(["connectionId", "messageSid"])),
  );
  for (const connectionId of new Set(removed.flatMap((text) => text.connectionId ?? []))) {
    const own = removed.filter((text) => text.connectionId === connectionId);
    const sids = own.flatMap(({ messageSid }) => messageSid ?? []);
    if (sids.length > 0) await eraseTextsAtProvider(scope, { connectionId, sids }, erasureId);
  }
  await scope.table("sms_contacts").where({ phoneNumber }).delete();
  await count(scope, { texts: removed.length });
}

/** A stored text and the provider's id of it. */
interface StoredText {
  readonly connectionId: string | null;
  readonly messageSid: string | null;
}
