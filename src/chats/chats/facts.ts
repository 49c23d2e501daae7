import type { Fact } from "../../platform/database/tables/value-types";

/** Limit for facts of signed conversations, and for facts of unsigned ones. */
const MAX_FACTS = 50;

/** Sets `signed` in facts that lack it, if it is known. */
export const markFacts = (facts: readonly Fact[], signed: boolean | undefined): readonly Fact[] =>
  signed === undefined ? facts : facts.map((fact) => ({ signed, ...fact }));

/** The facts that a signed or an unsigned conversation may use. */
export const factsFor = (facts: readonly Fact[], signed: boolean): Fact[] =>
  facts.filter((fact) => fact.signed === signed);

/** Adds a fact. Removes the oldest ones of the same kind beyond the limit. */
export function withFact(facts: readonly Fact[], added: Fact): Fact[] {
  const same = facts.filter(({ signed, text }) => signed === added.signed && text !== added.text);
  const others = facts.filter(({ signed }) => signed !== added.signed);
  return [...others, ...same.slice(1 - MAX_FACTS), added];
}
