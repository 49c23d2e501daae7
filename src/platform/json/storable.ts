const MAX_DEPTH = 32;
const MAX_KEYS = 20_000;
/** Limit of a text without another one, and of a JSON value. */
const MAX_BYTES = 1_048_576;

/** Reason why a JSON value can't be stored; undefined if it can. Iterative, because input may be nested to any depth. */
export function jsonProblem(root: unknown): string | undefined {
  const waiting: [value: unknown, depth: number][] = [[root, 1]];
  let keys = 0;
  let bytes = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, depth] = next;
    if (typeof value === "string") {
      if (value.includes("\0") || !value.isWellFormed()) return "must not contain U+0000 or a lone surrogate";
      bytes += value.length;
    } else if (typeof value === "number" && !Number.isFinite(value)) return "contains a number out of range";
    else if (typeof value === "object" && value !== null) {
      if (depth > MAX_DEPTH) return `must be at most ${MAX_DEPTH} levels deep`;
      for (const key of Object.keys(value)) {
        if (key === "__proto__") return "must not contain the key __proto__";
        if (++keys > MAX_KEYS) return `must have at most ${MAX_KEYS} keys`;
        waiting.push(
          [Array.isArray(value) ? undefined : key, depth],
          [(value as Record<string, unknown>)[key], depth + 1],
        );
      }
    }
    if ((bytes += 1) > MAX_BYTES) return "must be at most 1 MiB";
  }
  return Buffer.byteLength(JSON.stringify(root)) > MAX_BYTES ? "must be at most 1 MiB" : undefined;
}

/** Reason why a text can't be stored, whatever its field is; undefined if it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "must not contain the character U+0000";
  return text.isWellFormed() ? undefined : "must not contain a lone surrogate";
}

/** Reason why a text is too long for a field without a limit of its own. */
export const sizeProblem = (text: string): string | undefined =>
  Buffer.byteLength(text) > MAX_BYTES ? "must be at most 1 MiB" : undefined;
