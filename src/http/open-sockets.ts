/** Counts the open sockets of this process by key. */
export class OpenSockets {
  private readonly counts = new Map<string, number>();

  /** Counts a socket for `key`. @returns a function that releases it; undefined if `limit` is reached */
  open(key: string, limit: number): (() => void) | undefined {
    const count = this.counts.get(key) ?? 0;
    if (count >= limit) return undefined;
    this.counts.set(key, count + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      const left = this.counts.get(key)! - 1; // counted above
      if (left === 0) this.counts.delete(key);
      else this.counts.set(key, left);
    };
  }
}
