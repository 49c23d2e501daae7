import type { Line, Part } from "./format";
import { linesOf } from "./lines";

/** Tells a record from the others of its part. */
const identityOf = (part: Part, { id, assistantId, number, uniqueId }: Line): string => {
  if (part === "organization") return "of the organization";
  if (part === "versions") return `${String(assistantId)}, version ${String(number)}`;
  return String(part === "end users" ? uniqueId : id);
};

/** Size of the filter: 16 MiB. */
const BITS = 2 ** 27;
const WORD = 32;
const SEEDS = [0x811c9dc5, 0x01000193, 0x9e3779b9, 0x85ebca6b];

/** Finds records that stand in a file twice, with the same memory for any number of records. */
export class RepeatedRecords {
  /** A Bloom filter of the identities. */
  private readonly bits = new Uint32Array(BITS / WORD);
  /** Identities that have stood in the file before, or whose bits others have set. */
  private readonly suspects = new Set<string>();

  constructor(private readonly part: Part) {}

  add(line: Line): void {
    const identity = identityOf(this.part, line);
    const isNew = SEEDS.map((seed) => this.set(hashOf(identity, seed) % BITS)).includes(true);
    if (!isNew) this.suspects.add(identity);
  }

  /** Lines about the records that stood in the file before. */
  async problemsIn(path: string): Promise<string[]> {
    if (this.suspects.size === 0) return [];
    const first = new Map<string, number>();
    const problems: string[] = [];
    for await (const { number, line } of linesOf(path)) {
      const identity = identityOf(this.part, line);
      if (!this.suspects.has(identity)) continue;
      const before = first.get(identity);
      if (before === undefined) first.set(identity, number);
      else problems.push(`${path}:${number}: The record ${identity} stands in line ${before}, too.`);
    }
    return problems;
  }

  /** @returns whether the bit was not set before */
  private set(bit: number): boolean {
    const [word, mask] = [Math.floor(bit / WORD), 1 << (bit % WORD)];
    const isNew = (this.bits[word]! & mask) === 0;
    this.bits[word]! |= mask;
    return isNew;
  }
}

/** The hash FNV-1a of a text. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
