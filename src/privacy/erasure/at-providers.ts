import { callsAtEngine, eraseCall, type CallAtEngine } from "../../channels/calls/erase-call";
import { newId } from "../../platform/database/ids";
import type { Rows } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";
import { TextRefused, type TelephonyLine } from "../../platform/ports/telephony";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { noteKept, settle } from "./settle";

/** Texts of one connected number that the provider is to delete: by their ids, and those with a person in a time. */
export interface TextsTarget {
  readonly connectionId: string;
  readonly sids: readonly string[];
  readonly exchange?: { readonly phoneNumber: string; readonly from: string; readonly to: string };
}

interface Row {
  readonly id: string;
  readonly erasureId: string | null;
  readonly kind: "TEXTS" | "CALL";
  readonly sealedTarget: string;
}

/** Attempts, the last of them after some hours. */
const TRIES = 10;
/** For each request, in milliseconds. */
const TIMEOUT = 10_000;
/** For all pages of a list, in milliseconds. */
const LIST_TIMEOUT = 60_000;

/** Has a job delete at the provider what it keeps of conversations. Call it in the transaction that removes them. */
export async function eraseAtProviders(
  scope: Scope,
  chatIds: readonly string[],
  erasureId?: string,
): Promise<void> {
  for (const target of await textsOf(scope, chatIds)) await request(scope, "TEXTS", target, erasureId);
  for (const target of await callsAtEngine(scope, chatIds)) await request(scope, "CALL", target, erasureId);
}

/** The same for texts that belong to no conversation. */
export const eraseTextsAtProvider = (scope: Scope, target: TextsTarget, erasureId: string): Promise<void> =>
  request(scope, "TEXTS", target, erasureId);

async function request(
  scope: Scope,
  kind: Row["kind"],
  target: object,
  erasureId: string | undefined,
): Promise<void> {
  const id = newId();
  const sealedTarget = scope.ports.crypto.seal(JSON.stringify(target), contextOf(scope, id));
  await scope.insert("provider_erasures", { id, kind, sealedTarget, erasureId });
  await scope.enqueue("provider.erase", { providerErasureId: id }, { tries: TRIES });
}

/** Texts whose ids are noted for some days only, and answers in TwiML whose ids nobody tells, are found by their time. */
async function textsOf(scope: Scope, chatIds: readonly string[]): Promise<TextsTarget[]> {
  const threads = scope
    .table("sms_threads")
    .whereIn("chatId", chatIds)
    .select<
      (Pick<Rows["sms_threads"], "chatId" | "connectionId" | "phoneNumber"> &
        Pick<Rows["chats"], "startedAt" | "endedAt">)[]
    >("chatId", "connectionId", "sms_threads.phoneNumber", "chats.startedAt", "chats.endedAt");
  const rows = await scope.join(threads, "chats", "sms_threads.chatId", "chats.id");
  const targets: TextsTarget[] = [];
  for (const { chatId, connectionId, phoneNumber, startedAt, endedAt } of rows) {
    const noted = (["sms_received", "sms_sent"] as const).map((table) =>
      scope.table(table).select("messageSid").where({ chatId }).whereNotNull("messageSid"),
    );
    const found = (await Promise.all(noted)).flat();
    const exchange = { phoneNumber, from: startedAt.toISOString(), to: endedAt!.toISOString() };
    targets.push({ connectionId, sids: found.map(({ messageSid }) => messageSid!), exchange });
  }
  return targets;
}

/** Deletes at a provider what one row names. @throws Error when the provider does not answer: then it is tried again */
export async function eraseAtProvider(scope: Scope, id: string): Promise<void> {
  const row = await rowOf(scope, id);
  if (!row) return;
  if (row.kind === "CALL") await eraseCall(scope, targetOf<CallAtEngine>(scope, row));
  const kept = row.kind === "TEXTS" ? await eraseTexts(scope, targetOf<TextsTarget>(scope, row)) : 0;
  await conclude(scope, row, kept);
}

/** Tells in the receipt that a provider never did. */
export async function giveUpAtProvider(scope: Scope, id: string): Promise<void> {
  const row = await rowOf(scope, id);
  if (!row) return;
  const known = row.kind === "TEXTS" ? targetOf<TextsTarget>(scope, row).sids.length : 1;
  await conclude(scope, row, Math.max(known, 1));
}

async function conclude(scope: Scope, { id, kind, erasureId }: Row, kept: number): Promise<void> {
  await scope.transaction(async (scope) => {
    const gone = await scope.table("provider_erasures").where({ id }).delete();
    if (gone === 0 || erasureId === null) return;
    await noteKept(scope, erasureId, kind === "TEXTS" ? { textsKept: kept } : { callsKept: kept });
  });
  // After the commit: of several that end at once, the last sees no other.
  if (erasureId !== null) await settle(scope, erasureId);
}

/** @returns how many texts the provider refused to delete */
async function eraseTexts(scope: Scope, { connectionId, sids, exchange }: TextsTarget): Promise<number> {
  const line = await scope.of(TelephonyConnections).lineOf(connectionId);
  if (!line) return sids.length; // nobody has the account's token any more
  const erasing = new Erasing(scope, line);
  await erasing.all(sids);
  if (exchange) {
    const { phoneNumber, from, to } = exchange;
    const times = { phoneNumber, from: new Date(from), to: new Date(to) };
    const { provider } = scope.ports.telephone;
    await erasing.all(await provider.exchanged(line, times, AbortSignal.timeout(LIST_TIMEOUT)));
  }
  return erasing.refused;
}

/** Deletes texts one after another, each once. */
class Erasing {
  refused = 0;
  private readonly tried = new Set<string>();

  constructor(
    private readonly scope: Scope,
    private readonly line: TelephonyLine,
  ) {}

  async all(sids: readonly string[]): Promise<void> {
    const { provider } = this.scope.ports.telephone;
    for (const sid of sids) {
      if (this.tried.has(sid)) continue;
      this.tried.add(sid);
      try {
        await provider.erase(this.line, sid, AbortSignal.timeout(TIMEOUT));
      } catch (error) {
        if (!(error instanceof TextRefused)) throw error;
        this.refused++;
      }
    }
  }
}

async function rowOf(scope: Scope, id: string): Promise<Row | undefined> {
  const [row] = await scope.table("provider_erasures").where({ id });
  return row;
}

const targetOf = <T>(scope: Scope, { id, sealedTarget }: Row): T =>
  JSON.parse(scope.ports.crypto.open(sealedTarget, contextOf(scope, id))) as T;

const contextOf = ({ organizationId }: Scope, id: string) => `${organizationId}/provider_erasures/${id}`;
