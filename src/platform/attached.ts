/**
 * A value that belongs to an object, such as a request. Unlike an entry of a WeakMap, it goes with its object: V8 drops
 * entries of old maps only in full collections, so every request would survive the young ones.
 */
export class Attached<T> {
  private readonly key = Symbol("attached");

  get(owner: object): T | undefined {
    return (owner as Record<symbol, T | undefined>)[this.key]; // only `set` writes this key
  }

  set(owner: object, value: T | undefined): void {
    (owner as Record<symbol, T | undefined>)[this.key] = value; // see `get`
  }
}
