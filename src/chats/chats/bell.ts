/** Remembers that it was rung until somebody has waited for it. */
export class Bell {
  private ringing = false;
  private wake: (() => void) | undefined;

  ring(): void {
    this.ringing = true;
    this.wake?.();
  }

  /** Resolves when it is rung, or was since the last time; or after so many milliseconds. */
  async rung(patience?: number): Promise<void> {
    const timer = patience === undefined ? undefined : setTimeout(() => this.ring(), patience);
    if (!this.ringing) await new Promise<void>((resolve) => (this.wake = resolve));
    clearTimeout(timer);
    this.ringing = false;
    this.wake = undefined;
  }
}
