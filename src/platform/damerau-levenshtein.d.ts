/** Counts insertions, deletions, substitutions and swaps of neighboring characters. It has no types of its own. */
declare module "damerau-levenshtein" {
  export default function compare(a: string, b: string): { readonly steps: number };
}
