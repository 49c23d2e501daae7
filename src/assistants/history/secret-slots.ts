import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { secretsIn, slotsIn, SPOKEN_KINDS, type SecretsBySlot, type SpokenKind } from "./function-secrets";

type LiveFunctions = Readonly<Record<SpokenKind, string>>;

/**
 * The secrets of functions by slot. Those of the current functions stand in the configurations; one whose function is
 * gone is kept here, because earlier versions still call it. A function that loses its secret loses it in all versions.
 */
export class SecretSlots {
  constructor(private readonly scope: Scope) {}

  /** The secrets of all slots that an assistant has or had. */
  async current(assistantId: string): Promise<SecretsBySlot> {
    const [[live], kept] = await Promise.all([
      this.scope.read(LIVE_FUNCTIONS, [assistantId]),
      this.scope.table("function_secrets").where({ assistantId }).select("slot", "sealedSecret"),
    ]);
    const former = kept.map(({ slot, sealedSecret }) => [
      slot,
      this.scope.ports.crypto.open(sealedSecret, this.context(assistantId, slot)),
    ]);
    const present = SPOKEN_KINDS.map((kind) => (live ? secretsIn(kind, live[kind]) : {}));
    return Object.assign({}, Object.fromEntries(former), ...present) as SecretsBySlot;
  }

  /** Locks the functions of a configuration, and so their secrets, until the end of the transaction. */
  async lock(assistantId: string, kind: SpokenKind): Promise<void> {
    await this.scope.write(LOCKED[kind], [assistantId]);
  }

  /** Keeps the secrets of functions that a change removes. Runs in its transaction, before the change. */
  async keepRemoved(assistantId: string, kind: SpokenKind, next: string): Promise<void> {
    const [live] = await this.scope.write(LOCKED[kind], [assistantId]);
    if (!live) return;
    const slots = new Set(slotsIn(kind, next));
    const rows = this.scope.table("function_secrets").where({ assistantId });
    if (slots.size > 0) await rows.whereIn("slot", [...slots]).delete();
    for (const [slot, secret] of Object.entries(secretsIn(kind, live.functions)))
      if (!slots.has(slot))
        await this.scope
          .insert("function_secrets", {
            assistantId,
            slot,
            sealedSecret: this.scope.ports.crypto.seal(secret, this.context(assistantId, slot)),
          })
          .onConflict(["organizationId", "assistantId", "slot"])
          .merge();
  }

  private context(assistantId: string, slot: string): string {
    return `${this.scope.organizationId}/function_secrets/${assistantId}/${slot}`;
  }
}

const LIVE_FUNCTIONS = statement<LiveFunctions>(({ db }) =>
  db.raw(`
  select v.functions::text as voice, s.functions::text as sms, c.functions::text as chat
  from voice_configurations v
  join sms_configurations s on s.organization_id = $1 and s.assistant_id = v.assistant_id
  join chat_configurations c on c.organization_id = $1 and c.assistant_id = v.assistant_id
  where v.organization_id = $1 and v.assistant_id = $2`),
);

const locked = (kind: SpokenKind) =>
  statement<{ functions: string }>(({ db }) =>
    db.raw(`
    select functions::text from ${kind}_configurations
    where ${kind}_configurations.organization_id = $1 and ${kind}_configurations.assistant_id = $2
    for no key update`),
  );
const LOCKED: Readonly<Record<SpokenKind, ReturnType<typeof locked>>> = {
  voice: locked("voice"),
  sms: locked("sms"),
  chat: locked("chat"),
};
