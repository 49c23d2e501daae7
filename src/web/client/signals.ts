/** A signal that can be aborted by itself, and is when one of the others is. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Ends the link. */
  release(): void;
}

/** Links signals, as AbortSignal.any does, which Safari before 17.4 and some runtimes lack. */
export function linked(...others: readonly (AbortSignal | null | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const sources = others.filter((one) => one != null);
  const follow = () => controller.abort(sources.find(({ aborted }) => aborted)?.reason);
  for (const source of sources) source.addEventListener("abort", follow, { once: true });
  if (sources.some(({ aborted }) => aborted)) follow();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => sources.forEach((source) => source.removeEventListener("abort", follow)),
  };
}
