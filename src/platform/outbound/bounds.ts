import { Transform, type Readable } from "node:stream";

/** What of one answer is read at most. */
export interface Bound {
  readonly bytes: number;
  /** Of one line, in bytes. */
  readonly line?: number;
  /** From the request to the end of the answer. */
  readonly milliseconds: number;
}

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Bounds of answers, decompressed, by who gives them. Those of webhooks and functions stand with their requests. */
export const BOUNDS = {
  /** The words themselves have 1 MiB (`MODEL_WORDS`); what carries them is many times as long, a line for each piece. */
  model: { bytes: 8 * MIB, line: 256 * KIB, milliseconds: 600_000 },
  embeddings: { bytes: 16 * MIB, milliseconds: 120_000 },
  /** Lists of calls hold what was said in them. */
  voice: { bytes: 16 * MIB, milliseconds: 60_000 },
  telephony: { bytes: 4 * MIB, milliseconds: 60_000 },
  /** Of a call; an hour of uncompressed speech in two channels has less. */
  recording: { bytes: 512 * MIB, milliseconds: 600_000 },
  /** All that is no content of a file. */
  storage: { bytes: 4 * MIB, milliseconds: 60_000 },
} as const satisfies Record<string, Bound>;

/** Bytes of text and arguments that one answer of a model may have. */
export const MODEL_WORDS = MIB;

/** An answer is longer, or takes longer, than is read of it. */
export class BoundExceeded extends Error {
  constructor(provider: string, bound: string) {
    super(`The answer of ${provider} exceeds ${bound}.`);
  }
}

/** Told of every answer that exceeds its bound. */
export type Report = (error: BoundExceeded, provider: string, bound: string) => void;

/** Reads answers of others as far as they may go. */
export class BoundedAnswers {
  constructor(private readonly report: Report = () => undefined) {}

  /** Notes that an answer exceeds a bound. @returns the error that ends its reading */
  exceeded(provider: string, bound: string): BoundExceeded {
    const error = new BoundExceeded(provider, bound);
    this.report(error, provider, bound);
    return error;
  }

  /** A `fetch` whose answers end with an error where they exceed the bound. */
  fetch(reach: typeof fetch, provider: string, bound: Bound): typeof fetch {
    return async (input, init) => {
      const late = new AbortController();
      const end = () => late.abort(this.exceeded(provider, `${bound.milliseconds} ms`));
      const timer = setTimeout(end, bound.milliseconds).unref();
      const over = () => clearTimeout(timer);
      init?.signal?.addEventListener("abort", over, { once: true });
      const signal = init?.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
      try {
        const answer = await reach(input, { ...init, signal });
        if (!answer.body) over();
        const body = answer.body && this.metered(answer.body, provider, bound, over);
        const { status, statusText, headers } = answer;
        return new Response(body, { status, statusText, headers });
      } catch (error) {
        over();
        throw late.signal.aborted ? late.signal.reason : error;
      }
    };
  }

  /** A stream that ends with an error where it exceeds the bound. */
  stream(content: Readable, provider: string, bound: Bound): Readable {
    const meter = new Meter(bound);
    const metered = new Transform({
      transform: (chunk: Buffer, _encoding, next) => {
        const passed = meter.passed(chunk);
        if (passed === undefined) next(null, chunk);
        else next(this.exceeded(provider, passed));
      },
    });
    content.on("error", (error) => metered.destroy(error));
    return metered.on("error", () => content.destroy()) && content.pipe(metered);
  }

  private metered(
    body: ReadableStream<Uint8Array>,
    provider: string,
    bound: Bound,
    over: () => void,
  ): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    const meter = new Meter(bound);
    return new ReadableStream({
      pull: async (to) => {
        try {
          const { done, value } = await reader.read();
          const passed = done ? undefined : meter.passed(value);
          if (passed !== undefined) throw this.exceeded(provider, passed);
          if (!done) return to.enqueue(value);
          over();
          to.close();
        } catch (error) {
          over();
          to.error(error);
          await reader.cancel(error).catch(() => undefined);
        }
      },
      cancel: (reason) => (over(), reader.cancel(reason)),
    });
  }
}

/** How much of an answer has come. */
class Meter {
  private size = 0;
  private lineSize = 0;

  constructor(private readonly bound: Bound) {}

  /** Counts a piece. @returns the bound that it exceeds */
  passed(chunk: Uint8Array): string | undefined {
    const { bytes, line = Infinity } = this.bound;
    this.size += chunk.length;
    if (this.size > bytes) return `${bytes} bytes`;
    if (line < Infinity && this.longestLine(chunk) > line) return `${line} bytes in a line`;
    return undefined;
  }

  private longestLine(chunk: Uint8Array): number {
    let [at, longest] = [0, 0];
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      longest = Math.max(longest, this.lineSize + end - at);
      this.lineSize = 0;
      at = end + 1;
    }
    this.lineSize += chunk.length - at;
    return Math.max(longest, this.lineSize);
  }
}
