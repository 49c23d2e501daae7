/** How many sockets are open in this process, by whom they are counted for. */
export class OpenSockets {
  private readonly counts = new Map<string, number>();

  /** Counts one more for `key`. @returns what counts it no longer; undefined when there are `most` */
  open(key: string, most: number): (() => void) | undefined {
    const count = this.counts.get(key) ?? 0;
    if (count >= most) return undefined;
    this.counts.set(key, count + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      const left = this.counts.get(key)! - 1; // this one was counted
      if (left === 0) this.counts.delete(key);
      else this.counts.set(key, left);
    };
  }
}
