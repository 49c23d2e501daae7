/** Texts that differ between two runs of the same requests: ids, secrets, tokens, signatures and times. Few random texts have no digit. */
const TOKEN =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::\d\d)?)|eyJ[\w-]+(?:\.[\w-]*){1,2}|(?=[\w+/-]*\d)(?=[\w+/-]*[A-Za-z])[\w+/-]{16,}={0,2}|(?=[\w+/-]*[a-z])(?=(?:[a-z_+/-]*[A-Z]){4})[\w+/-]{20,}={0,2}/g;
const TIME = /^\d{4}-\d\d-\d\d[T ]/;

/** Seconds since 1970 in the claims of a token, or until it expires; each server has counted them at its own moment. */
const SECONDS = /\b(?:iat|exp|nbf|until|expiresIn)$/;

/** The same in a link. */
const EXPIRY = /(?<=[?&]expires=)\d+/;
const secondsIn = (link: string): number => Number(EXPIRY.exec(link)?.[0] ?? 0);

/** Fields with a measured time. */
const MEASURED = /\bdurationMs$/;

/** Times of this run, and times computed from the current one, may be this far apart, in milliseconds. */
const APART_MS = 30_000;
/** The seed is younger, in milliseconds. */
const SEED_MS = 3_600_000;

/** Pairs what one server made with what the other made. Each token has one partner, everywhere. */
export class Bijection {
  private readonly there = new Map<string, string>();
  private readonly back = new Map<string, string>();
  private readonly began = Date.now();

  /** Differences of two values, each with its path. */
  differences(left: unknown, right: unknown, path = ""): string[] {
    if (typeof left === "string" && typeof right === "string") return this.texts(left, right, path);
    if (Array.isArray(left) && Array.isArray(right)) {
      if (left.length !== right.length) return [`${path}: ${left.length} items, and ${right.length}`];
      return left.flatMap((item, index) => this.differences(item, right[index], `${path}[${index}]`));
    }
    if (isObject(left) && isObject(right)) {
      const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
      // Names that are ids differ too.
      if (names.length > Object.keys(left).length && names.some((name) => name.match(TOKEN)))
        return this.differences(this.sorted(left, "left"), this.sorted(right, "right"), path);
      return names.flatMap((name) =>
        this.differences(left[name], right[name], path ? `${path}.${name}` : name),
      );
    }
    if (MEASURED.test(path) && typeof left === typeof right) return [];
    if (SECONDS.test(path) && typeof left === "number" && typeof right === "number")
      if (Math.abs(left - right) * 1_000 < APART_MS) return [];
    return left === right ? [] : [`${path}: ${shown(left)}, and ${shown(right)}`];
  }

  private sorted(object: object, side: "left" | "right") {
    const keyed = Object.entries(object).map((entry) => ({ entry, key: this.sortKey(entry, side) }));
    return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ entry }) => entry);
  }

  private texts(left: string, right: string, path: string): string[] {
    const [ours, theirs] = [left.match(TOKEN) ?? [], right.match(TOKEN) ?? []];
    const differ = [`${path}: ${shown(left)}, and ${shown(right)}`];
    const apart = Math.abs(secondsIn(left) - secondsIn(right)) * 1_000;
    const rest = (text: string) => text.replace(TOKEN, "…").replace(EXPIRY, "");
    if (rest(left) !== rest(right) || ours.length !== theirs.length || !(apart < APART_MS)) return differ;
    return ours.every((token, index) => this.pair(token, theirs[index]!)) ? [] : differ;
  }

  private pair(left: string, right: string): boolean {
    if (TIME.test(left) && TIME.test(right))
      return (
        left === right ||
        (!this.isOfSeed(left) &&
          !this.isOfSeed(right) &&
          Math.abs(Date.parse(left) - Date.parse(right)) < APART_MS)
      );
    // Two tokens of one second may be equal, so their texts do not pair one to one.
    const [ours, theirs] = [claimsOf(left), claimsOf(right)];
    if (ours && theirs) return this.differences(ours, theirs).length === 0;
    if (!this.there.has(left) && !this.back.has(right)) {
      this.there.set(left, right);
      this.back.set(right, left);
    }
    return this.there.get(left) === right && this.back.get(right) === left;
  }

  /** Both databases have the times of the seed, which are therefore equal. */
  private isOfSeed(text: string): boolean {
    const time = Date.parse(text);
    return time < this.began && time > this.began - SEED_MS;
  }

  /** A key that sorts two lists of unordered rows alike. */
  sortKey(row: unknown, side: "left" | "right"): string {
    const known = side === "left" ? this.there : this.back;
    return JSON.stringify(row).replace(TOKEN, (token) =>
      TIME.test(token)
        ? this.isOfSeed(token)
          ? token
          : "time"
        : known.has(token)
          ? side === "left"
            ? token
            : known.get(token)!
          : "?",
    );
  }
}

/** The claims of a JSON Web Token; undefined for other texts. */
function claimsOf(text: string): object | undefined {
  const [, claims] = /^eyJ[\w-]+\.([\w-]+)\.[\w-]*$/.exec(text) ?? [];
  return claims === undefined
    ? undefined
    : (JSON.parse(Buffer.from(claims, "base64url").toString()) as object);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 200);
