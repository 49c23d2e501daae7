/** Something that an assistant remembers of a person. */
export interface Fact {
  readonly text: string;
  readonly createdAt: string;
  /** Whether the person was known by a signature or the organization's word; undefined in old ones. */
  readonly signed?: boolean;
}

/** Of signed and of unsigned conversations each. */
const MOST_FACTS = 50;

/** Facts that say whether they come from signed conversations, as far as that is known. */
export const marked = (facts: readonly Fact[], signed: boolean | undefined): readonly Fact[] =>
  signed === undefined ? facts : facts.map((fact) => ({ signed, ...fact }));

/** The facts that may be told of in a signed or in an unsigned conversation. */
export const factsFor = (facts: readonly Fact[], signed: boolean): Fact[] =>
  facts.filter((fact) => fact.signed === signed);

/** Facts with another one; the oldest of the same kind make room. */
export function withFact(facts: readonly Fact[], added: Fact): Fact[] {
  const same = facts.filter(({ signed, text }) => signed === added.signed && text !== added.text);
  const others = facts.filter(({ signed }) => signed !== added.signed);
  return [...others, ...same.slice(1 - MOST_FACTS), added];
}
