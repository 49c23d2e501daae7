/** A request was not sent, as its deadline had passed or another server had taken the work over. */
export class NotSent extends Error {}

/**
 * The time until which something may be asked of a provider. It begins before the intent is stored: a server that
 * stalled finds it over, by a clock that nobody sets.
 */
export class Deadline {
  private readonly end: number;

  constructor(milliseconds: number) {
    this.end = performance.now() + milliseconds;
  }

  /**
   * For the request, made right before it is sent: it is aborted at the deadline, also while it connects.
   * @throws NotSent when the deadline has passed
   */
  signal(): AbortSignal {
    const left = Math.floor(this.end - performance.now());
    if (left <= 0) throw new NotSent("The request was not sent: its deadline had passed.");
    return AbortSignal.timeout(left);
  }
}
