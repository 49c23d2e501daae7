/** Wakes a waiting loop. A notification while nobody waits makes the next `wait` resolve at once. */
export class Signal {
  private isPending = false;
  private wake: (() => void) | undefined;

  notify(): void {
    this.isPending = true;
    this.wake?.();
  }

  /** Resolves at the next notification since the last wait, or after the timeout. */
  async wait(timeoutMs?: number): Promise<void> {
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.notify(), timeoutMs);
    if (!this.isPending) await new Promise<void>((resolve) => (this.wake = resolve));
    clearTimeout(timer);
    this.isPending = false;
    this.wake = undefined;
  }
}
