import { callsAtEngine, eraseCall, type CallAtEngine } from "../../channels/calls/erase-call";
import { newId } from "../../platform/database/values/ids";
import type { Rows } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { TextRefused, type TelephonyLine } from "../../platform/ports/telephony";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { noteKept, settle } from "./settle";

/**
 * Texts of one connected number that the provider is to delete: single texts by their ids, and all texts exchanged
 * with a person in a period.
 */
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

/** Number of attempts; the last one is some hours after the first. */
const MAX_ATTEMPTS = 10;
/** Timeout of each request, in ms. */
const TIMEOUT_MS = 10_000;
/** Timeout for all pages of a list together, in ms. */
const LIST_TIMEOUT_MS = 60_000;

/** Enqueues deletion of the providers' data about conversations. Runs in the transaction that removes them. */
export async function eraseAtProviders(
  scope: Scope,
  chatIds: readonly string[],
  erasureId?: string,
): Promise<void> {
  for (const target of await textsOf(scope, chatIds)) await request(scope, "TEXTS", target, erasureId);
  for (const target of await callsAtEngine(scope, chatIds)) await request(scope, "CALL", target, erasureId);
}

/** Like `eraseAtProviders`, for texts outside any conversation. */
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
  await scope.enqueue("provider.erase", { providerErasureId: id }, { attempts: MAX_ATTEMPTS });
}

/**
 * Texts of chats. Ids are stored for some days only, and answers in TwiML have no known id, so the provider also
 * searches by time.
 */
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
    const stored = (["sms_received", "sms_sent"] as const).map((table) =>
      scope.table(table).select("messageSid").where({ chatId }).whereNotNull("messageSid"),
    );
    const found = (await Promise.all(stored)).flat();
    const exchange = { phoneNumber, from: startedAt.toISOString(), to: endedAt!.toISOString() };
    targets.push({ connectionId, sids: found.map(({ messageSid }) => messageSid!), exchange });
  }
  return targets;
}

/**
 * Deletes the data that one row names at the provider. @throws Error if the provider does not answer, so that the job
 * is retried
 */
export async function eraseAtProvider(scope: Scope, id: string): Promise<void> {
  const row = await rowOf(scope, id);
  if (!row) return;
  if (row.kind === "CALL") await eraseCall(scope, targetOf<CallAtEngine>(scope, row));
  const kept = row.kind === "TEXTS" ? await eraseTexts(scope, targetOf<TextsTarget>(scope, row)) : 0;
  await conclude(scope, row, kept);
}

/** Records in the receipt that a provider has not deleted the data. */
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
  // After the commit, so that the last of several concurrent transactions sees none left.
  if (erasureId !== null) await settle(scope, erasureId);
}

/** @returns how many texts the provider refused to delete */
async function eraseTexts(scope: Scope, { connectionId, sids, exchange }: TextsTarget): Promise<number> {
  const line = await scope.of(TelephonyConnections).lineOf(connectionId);
  if (!line) return sids.length; // the account's token is no longer stored
  const eraser = new TextEraser(scope, line);
  await eraser.all(sids);
  if (exchange) {
    const { phoneNumber, from, to } = exchange;
    const times = { phoneNumber, from: new Date(from), to: new Date(to) };
    const { provider } = scope.ports.telephone;
    await eraser.all(await provider.exchanged(line, times, AbortSignal.timeout(LIST_TIMEOUT_MS)));
  }
  return eraser.refused;
}

/** Deletes texts one after another, each once. */
class TextEraser {
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
        await provider.erase(this.line, sid, AbortSignal.timeout(TIMEOUT_MS));
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
