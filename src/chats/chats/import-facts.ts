import { Assistants } from "../../assistants/assistants/assistants";
import { currentDate } from "../../platform/clock";
import { encoded } from "../../platform/database/values/encoded";
import { indexable } from "../../platform/database/values/long-texts";
import type { Scope } from "../../platform/database/scope";
import type { Fact } from "../../platform/database/tables/value-types";
import { EndUsers } from "./end-users";
import { withFact } from "./facts";

/** A fact that an assistant of another service remembers. */
export interface ImportedFact {
  readonly assistantId: string;
  readonly text: string;
  /** Whether the other service had proven the person's identity. */
  readonly signed: boolean;
  readonly createdAt: Date;
}

export interface FactImport {
  /** Number of facts that were stored. */
  readonly imported: number;
  /** Number of facts that were known, or older than those that an assistant keeps. */
  readonly omitted: number;
}

/**
 * Adds to what assistants remember of a person, in the order of the facts' times. Runs in a transaction.
 * @throws ASSISTANT_NOT_FOUND (deleted assistants are allowed)
 */
export async function importFacts(
  scope: Scope,
  uniqueId: string,
  facts: readonly ImportedFact[],
): Promise<FactImport> {
  const person = indexable(uniqueId);
  let imported = 0;
  // In the order of ids, so that two imports do not deadlock.
  for (const assistantId of [...new Set(facts.map((fact) => fact.assistantId))].sort()) {
    await scope.of(Assistants).byIdIncludingDeleted(assistantId);
    await scope.of(EndUsers).register(assistantId, person);
    const row = () => scope.table("end_users").where({ assistantId, uniqueId: person });
    const [stored] = await row().select("facts").forUpdate();
    const known = stored!.facts; // registered above
    const added = facts.filter((fact) => fact.assistantId === assistantId).map(factOf);
    const kept = merged(known, added);
    const fresh = kept.filter((fact) => !known.includes(fact));
    if (fresh.length > 0) await row().update(encoded({ facts: kept, updatedAt: currentDate() }));
    imported += fresh.length;
  }
  return { imported, omitted: facts.length - imported };
}

const factOf = ({ text, signed, createdAt }: ImportedFact): Fact => ({
  text: text.trim(),
  signed,
  createdAt: createdAt.toISOString(),
});

/** Known facts, and the others at the places of their times. */
function merged(known: readonly Fact[], added: readonly Fact[]): readonly Fact[] {
  const isKnown = ({ text, signed }: Fact) => known.some((one) => one.text === text && one.signed === signed);
  const all = [...known, ...added.filter((fact) => !isKnown(fact))];
  const byTime = all.sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  return byTime.reduce<readonly Fact[]>(withFact, []);
}
