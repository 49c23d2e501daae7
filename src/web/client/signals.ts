/** A signal that can be aborted by itself, and is when another one is. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Ends the link. */
  release(): void;
}

/** Links a signal, as AbortSignal.any does, which Safari before 17.4 and some runtimes lack. */
export function linked(other: AbortSignal | undefined): LinkedSignal {
  const controller = new AbortController();
  const follow = () => controller.abort(other?.reason);
  if (other?.aborted) follow();
  other?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => other?.removeEventListener("abort", follow),
  };
}
