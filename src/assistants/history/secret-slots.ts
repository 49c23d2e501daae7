import type { Knex } from "knex";
import type { Scope } from "../../platform/database/scope";
import { statement, type Pieces, type Query, type Statement } from "../../platform/database/statement";
import {
  secretsIn,
  secretsOfStored,
  slotOfStored,
  slotsIn,
  slotsWithSecrets,
  storedFormsOf,
  SPOKEN_KINDS,
  storedSlotsIn,
  withoutRequests,
  withSecrets,
  type SecretsBySlot,
  type Slots,
  type SpokenKind,
} from "./function-secrets";
import { unclearSlotsIn } from "./twin-functions";

type LiveFunctions = Readonly<Record<SpokenKind | "assistantId", string>>;

/** The functions of a configuration before a change, and the secrets that are kept for slots which it has after it. */
interface Former {
  readonly functions: string;
  /** Sealed secrets by slot; null: none. */
  readonly kept: SecretsBySlot | null;
}

/** A change of the functions of a configuration. */
interface FunctionsChange {
  /** The new functions, with the stored secrets that they ask for. */
  readonly functions: string;
  /** The slots that ask for a stored secret, and have none. */
  readonly lost: readonly string[];
  /** Those that ask for one, but it is unclear for which. */
  readonly unclear: readonly string[];
  /** The values of `secretParts`: the functions before, the slots whose secrets are in use again, and those to keep. */
  readonly secrets: readonly [before: string, used: readonly string[], removed: string];
}

/**
 * The secrets of functions by slot. Those of the current functions stand in the configurations; one whose function is
 * gone is kept here, because earlier versions still call it. A function that loses its secret loses it in all versions.
 */
export class SecretSlots {
  constructor(private readonly scope: Scope) {}

  /** The secrets of all slots that an assistant has or had. */
  async current(assistantId: string): Promise<SecretsBySlot> {
    const [secrets] = await this.ofEach([assistantId]);
    return secrets!;
  }

  /** As `current`, for a caller that changes none. Calls in the same tick share statements. */
  loaded(assistantId: string): Promise<SecretsBySlot> {
    return this.scope.loader<SecretsBySlot>("secret_slots", (ids) => this.ofEach(ids)).load(assistantId);
  }

  private async ofEach(ids: readonly string[]): Promise<SecretsBySlot[]> {
    const [live, kept] = await Promise.all([
      this.scope.read(LIVE_FUNCTIONS, [ids]),
      this.scope.table("function_secrets").whereIn("assistantId", ids),
    ]);
    return ids.map((id) => {
      const former = kept
        .filter(({ assistantId }) => assistantId === id)
        .map(({ slot, sealedSecret }) => [slot, this.opened(id, slot, sealedSecret)]);
      const present = live
        .filter(({ assistantId }) => assistantId === id)
        .flatMap((functions) => SPOKEN_KINDS.map((kind) => slotsWithSecrets(kind, functions[kind])));
      return merged(secretsOfStored(Object.fromEntries(former) as SecretsBySlot), ...present);
    });
  }

  /** Locks the functions of a configuration, and so their secrets, until the end of the transaction. */
  async lock(assistantId: string, kind: SpokenKind): Promise<void> {
    await this.scope.write(LOCKED[kind], [assistantId]);
  }

  /**
   * Works out a change of functions, for a statement with `secretParts`.
   * @param given the new functions, in which `{"stored":true}` stands for a stored secret
   * @returns undefined if there is no such assistant
   */
  async changeOf(assistantId: string, kind: SpokenKind, given: string): Promise<FunctionsChange | undefined> {
    const slots = slotsIn(kind, given);
    const [former] = await this.scope.read(FORMER[kind], [assistantId, storedFormsOf(slots)]);
    if (!former) return undefined;
    const live = slotsWithSecrets(kind, former.functions);
    const unclear = unclearSlotsIn(kind, given, former);
    const next = withoutRequests(kind, given, unclear);
    const asked = storedSlotsIn(kind, next);
    const kept = former.kept ?? {};
    const opened = Object.entries(kept)
      .filter(([slot]) => asked.includes(slotOfStored(slot)))
      .map(([slot, sealed]) => [slot, this.opened(assistantId, slot, sealed)]);
    const stored = merged(secretsOfStored(Object.fromEntries(opened) as SecretsBySlot), live);
    const removed = this.sealedWithout(assistantId, live.secrets, slots);
    return {
      functions: asked.length > 0 ? withSecrets(kind, next, stored) : next,
      lost: asked.filter((slot) => !Object.hasOwn(stored, slot)),
      unclear,
      secrets: [former.functions, Object.keys(kept), JSON.stringify(Object.fromEntries(removed))],
    };
  }

  /** Keeps the secrets of functions that a change removes. Runs in its transaction, before the change. */
  async keepRemoved(assistantId: string, kind: SpokenKind, next: string): Promise<void> {
    const [live] = await this.scope.write(LOCKED[kind], [assistantId]);
    if (!live) return;
    const slots = slotsIn(kind, next);
    const rows = this.scope.table("function_secrets").where({ assistantId });
    if (slots.length > 0) await rows.whereIn("slot", storedFormsOf(slots)).delete();
    const removed = this.sealedWithout(assistantId, secretsIn(kind, live.functions), slots);
    for (const [slot, sealedSecret] of removed)
      await this.scope
        .insert("function_secrets", { assistantId, slot, sealedSecret })
        .onConflict(["organizationId", "assistantId", "slot"])
        .merge();
  }

  /** Seals the secrets whose slots are not among these. */
  private sealedWithout(assistantId: string, secrets: SecretsBySlot, slots: readonly string[]) {
    const present = new Set(slots);
    return Object.entries(secrets)
      .filter(([slot]) => !present.has(slot))
      .map(([slot, secret]) => {
        const sealed = this.scope.ports.crypto.seal(secret, this.context(assistantId, slot));
        return [slot, sealed] as const;
      });
  }

  private opened(assistantId: string, slot: string, sealed: string): string {
    return this.scope.ports.crypto.open(sealed, this.context(assistantId, slot));
  }

  private context(assistantId: string, slot: string): string {
    return `${this.scope.organizationId}/function_secrets/${assistantId}/${slot}`;
  }
}

/** Secrets that are kept for functions that the assistant does not have, with those of the functions that it has. */
function merged(kept: SecretsBySlot, ...present: readonly Slots[]): SecretsBySlot {
  const live = new Set(present.flatMap(({ slots }) => slots));
  const former = Object.entries(kept).filter(([slot]) => !live.has(slot));
  return Object.assign(Object.fromEntries(former), ...present.map(({ secrets }) => secrets)) as SecretsBySlot;
}

interface SecretPieces {
  /** Id of the assistant. */
  readonly id: Knex.Raw;
  readonly kind: SpokenKind;
  /** `secrets` of a `FunctionsChange`. */
  readonly values: readonly [before: Knex.Raw, used: Knex.Raw, removed: Knex.Raw];
}

/**
 * Makes the parts of a statement that changes functions: a condition that nobody else has changed them since they were
 * read, and parts that keep the secrets of removed functions.
 */
export function secretParts({ db, home }: Pieces, { id, kind, values }: SecretPieces) {
  const [before, used, removed] = values.map((value) => value.toQuery());
  const parts: Record<string, Query<unknown>> = {
    used: db.raw(`delete from function_secrets using changed
      where function_secrets.organization_id = $1 and function_secrets.assistant_id = ${id.toQuery()}
        and function_secrets.slot = any(${used}::text[])`),
    removed: db.raw(`insert into function_secrets (organization_id, assistant_id, slot, sealed_secret)
      select ${home.id}, ${id.toQuery()}, gone.slot, gone.secret
      from changed cross join lateral jsonb_each_text(${removed}::jsonb) as gone (slot, secret) ${home.join}
      on conflict (organization_id, assistant_id, slot) do update set sealed_secret = excluded.sealed_secret`),
  };
  return { condition: `${kind}_configurations.functions::text = ${before}`, parts };
}

const LIVE_FUNCTIONS = statement<LiveFunctions>(({ db }) =>
  db.raw(`
  select v.assistant_id, v.functions::text as voice, s.functions::text as sms, c.functions::text as chat
  from voice_configurations v
  join sms_configurations s on s.organization_id = $1 and s.assistant_id = v.assistant_id
  join chat_configurations c on c.organization_id = $1 and c.assistant_id = v.assistant_id
  where v.organization_id = $1 and v.assistant_id = any($2::text[])`),
);

const ofEachKind = <R>(one: (kind: SpokenKind) => Statement<R>) => ({
  voice: one("voice"),
  sms: one("sms"),
  chat: one("chat"),
});

/** Parameters: the assistant's id, and slots. */
const FORMER = ofEachKind((kind) =>
  statement<Former>(({ db }) =>
    db.raw(`
    select functions::text, (
      select jsonb_object_agg(slot, sealed_secret) from function_secrets
      where function_secrets.organization_id = $1 and function_secrets.assistant_id = $2
        and function_secrets.slot = any($3::text[])
    ) as kept
    from ${kind}_configurations
    where ${kind}_configurations.organization_id = $1 and ${kind}_configurations.assistant_id = $2`),
  ),
);

const LOCKED = ofEachKind((kind) =>
  statement<{ functions: string }>(({ db }) =>
    db.raw(`
    select functions::text from ${kind}_configurations
    where ${kind}_configurations.organization_id = $1 and ${kind}_configurations.assistant_id = $2
    for no key update`),
  ),
);
