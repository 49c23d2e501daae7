/** A request was not sent because its deadline had passed or another server had taken over the work. */
export class RequestNotSent extends Error {}

/**
 * The time until which a request may be sent to a provider. It starts before the intent is stored, so a server that
 * stalled in between does not send the request late. It uses the monotonic clock, which nobody can change.
 */
export class Deadline {
  private readonly end: number;

  constructor(milliseconds: number) {
    this.end = performance.now() + milliseconds;
  }

  /**
   * Signal that aborts the request at the deadline, even while it connects. Create it right before the request is sent.
   * @throws RequestNotSent if the deadline has passed
   */
  signal(): AbortSignal {
    const left = Math.floor(this.end - performance.now());
    if (left <= 0) throw new RequestNotSent("The request was not sent: its deadline had passed.");
    return AbortSignal.timeout(left);
  }
}
