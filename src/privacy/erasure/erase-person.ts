import { Chats } from "../../chats/chats/chats";
import { indexable } from "../../platform/database/long-texts";
import type { Build, Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { withdrawExports } from "../people/withdraw";
import { Files } from "../../assistants/files/files";
import { Idempotency } from "../../account/organization/idempotency";
import { eraseTextsAtProvider } from "./at-providers";
import { DigestKey, digesting } from "../people/digests";
import {
  chatsOf,
  filesOf,
  IDENTIFIER_KINDS,
  isRemembered,
  reachOf,
  type Person,
  type Reach,
} from "../people/person";
import { MOST_CHATS, removeChats, type Count, type RemovedChat } from "./remove-chats";

/** Live chats that one round ends. */
const MOST_LIVE = 50;

/** An erasure at work. */
interface ErasureOf {
  readonly until: string;
  readonly count: Count;
  readonly erasureId: string;
}

/**
 * Erases what was stored of a person up to a moment. Every step finds what is left of its work, so that an erasure
 * that was broken off goes on when it is begun again. Chats go last, as all else is found by them.
 */
export async function erasePerson(
  scope: Scope,
  person: Person,
  { until, count, erasureId }: ErasureOf,
): Promise<void> {
  await endLive(scope, person, until);
  const reach = await reachOf(scope, person, until);
  const { chatIds: ids, names } = reach;
  const digests = await digestsOf(scope, names);
  await scope.transaction((scope) => withdraw(scope, digests, count));
  await scope.of(Idempotency).forget([...names, ...ids]);
  await scope.write("erasure.jobs", jobs, [ids, person.kind === "phoneNumber" ? person.value : null]);
  await removeFiles(scope, reach, count);
  for (let at = 0; at < ids.length; at += MOST_CHATS)
    await removeChats(scope, ids.slice(at, at + MOST_CHATS), {
      count,
      erasureId,
      also: (scope, removed) => forgetFacts(scope, namesIn(removed), until, count),
    });
  await scope.transaction(async (scope) => {
    await withdraw(scope, digests, count);
    if (isRemembered(person)) await forgetFacts(scope, [person.value], until, count);
    if (person.kind === "phoneNumber") await removeTexts(scope, person.value, { until, count, erasureId });
  });
}

/** Archives written for somebody who is known by one of these names, or about to be. */
const withdraw = async (scope: Scope, digests: readonly string[], count: Count): Promise<void> =>
  count(scope, { exports: await withdrawExports(scope, { digests }) });

/** A name may be an identifier of any kind. */
async function digestsOf(scope: Scope, names: readonly string[]): Promise<string[]> {
  const digest = digesting(scope, await scope.of(DigestKey).sealed());
  return names.flatMap((value) => IDENTIFIER_KINDS.map((kind) => digest({ kind, value })));
}

/** Jobs that wait and are told of one of these chats, or of the number. */
const jobs: Build = (_table, _$, db) => db.raw("select parley_forget_jobs($1, $2::text[], $3)");

const namesIn = (chats: readonly RemovedChat[]): string[] => [
  ...new Set(chats.flatMap(({ uniqueId }) => uniqueId ?? [])),
];

async function endLive(scope: Scope, person: Person, until: string): Promise<void> {
  for (;;) {
    const live = chatsOf(scope, person, until).whereNot({ status: "ended" }).select("id").limit(MOST_LIVE);
    const ids = (await live).map(({ id }) => id);
    if (ids.length === 0) return;
    for (const id of ids) await scope.transaction((scope) => scope.of(Chats).endIfLive(id, "erased"));
  }
}

/** What assistants remember under these ids. A turn that still runs remembers nothing more, as its chat is gone. */
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
  const found = await filesOf(scope, reach).select("id");
  for (const { id } of found) {
    await scope.of(Files).remove(id).catch(ignoreMissing);
    await count(scope, { files: 1 });
  }
}

function ignoreMissing(error: Error): void {
  if (!(error instanceof DomainError)) throw error;
}

/** Texts from and to a number that belong to no chat, and what is noted of the number. */
async function removeTexts(
  scope: Scope,
  phoneNumber: string,
  { until, count, erasureId }: ErasureOf,
): Promise<void> {
  const received = scope.table("sms_received").whereRaw("sms_received.sms ->> 'from' = ?", [phoneNumber]);
  const sent = scope.table("sms_sent").where({ phoneNumber }).whereNull("chatId");
  const gone: Noted[] = [];
  gone.push(
    ...(await received.where("createdAt", "<=", until).delete().returning(["connectionId", "messageSid"])),
    ...(await sent.where("createdAt", "<=", until).delete().returning(["connectionId", "messageSid"])),
  );
  for (const connectionId of new Set(gone.flatMap((text) => text.connectionId ?? []))) {
    const own = gone.filter((text) => text.connectionId === connectionId);
    const sids = own.flatMap(({ messageSid }) => messageSid ?? []);
    if (sids.length > 0) await eraseTextsAtProvider(scope, { connectionId, sids }, erasureId);
  }
  await scope.table("sms_contacts").where({ phoneNumber }).delete();
  await count(scope, { texts: gone.length });
}

/** A text, and by what the provider knows it. */
interface Noted {
  readonly connectionId: string | null;
  readonly messageSid: string | null;
}
