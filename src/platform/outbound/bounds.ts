import { Transform, type Readable } from "node:stream";
import { tracing } from "../tracing/tracing";

/** Upper limits for one response. */
export interface Bound {
  readonly bytes: number;
  /** Longest line, in bytes. */
  readonly line?: number;
  /** Time from the request to the end of the response. */
  readonly milliseconds: number;
}

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Limits of decompressed responses, by provider. Requests to webhooks and functions define their own. */
export const BOUNDS = {
  /** The text itself is limited to 1 MiB (`MAX_MODEL_TEXT_BYTES`); its streaming format, with a line per piece, is many times as long. */
  model: { bytes: 8 * MIB, line: 256 * KIB, milliseconds: 600_000 },
  embeddings: { bytes: 16 * MIB, milliseconds: 120_000 },
  /** Lists of calls include transcripts. */
  voice: { bytes: 16 * MIB, milliseconds: 60_000 },
  telephony: { bytes: 4 * MIB, milliseconds: 60_000 },
  /** Recording of a call; an hour of uncompressed stereo speech is smaller. */
  recording: { bytes: 512 * MIB, milliseconds: 600_000 },
  /** All responses except the content of files. */
  storage: { bytes: 4 * MIB, milliseconds: 60_000 },
} as const satisfies Record<string, Bound>;

/** Upper limit for the text and arguments in one answer of a model. */
export const MAX_MODEL_TEXT_BYTES = MIB;

/** A response exceeded its size or time limit. */
export class BoundExceeded extends Error {
  constructor(provider: string, bound: string) {
    super(`The answer of ${provider} exceeds ${bound}.`);
  }
}

/** Called for every response that exceeds its limit. */
export type Report = (error: BoundExceeded, provider: string, bound: string) => void;

/** Enforces limits on responses of other services. */
export class BoundedAnswers {
  constructor(private readonly report: Report = () => undefined) {}

  /** Reports that a response exceeds a limit. @returns the error to end its reading with */
  exceeded(provider: string, bound: string): BoundExceeded {
    const error = new BoundExceeded(provider, bound);
    this.report(error, provider, bound);
    return error;
  }

  /** Wraps `reach`: reading a response that exceeds the limits fails with BoundExceeded. */
  fetch(reach: typeof fetch, provider: string, bound: Bound): typeof fetch {
    return async (input, init) => {
      const timeout = new AbortController();
      const abort = () => timeout.abort(this.exceeded(provider, `${bound.milliseconds} ms`));
      const timer = setTimeout(abort, bound.milliseconds).unref();
      const finish = () => {
        clearTimeout(timer);
        init?.signal?.removeEventListener("abort", finish);
      };
      init?.signal?.addEventListener("abort", finish, { once: true });
      const signal = init?.signal ? AbortSignal.any([init.signal, timeout.signal]) : timeout.signal;
      try {
        const answer = await reach(input, { ...init, signal, ...withTrace(init?.headers) });
        if (!answer.body) finish();
        const body = answer.body && this.metered(answer.body, provider, bound, finish);
        const { status, statusText, headers } = answer;
        return new Response(body, { status, statusText, headers });
      } catch (error) {
        finish();
        throw timeout.signal.aborted ? timeout.signal.reason : error;
      }
    };
  }

  /** Wraps a stream, which fails with BoundExceeded if it exceeds the limits. Its time counts from the first byte. */
  stream(content: Readable, provider: string, bound: Bound): Readable {
    const meter = new Meter(bound);
    const metered = new Transform({
      transform: (chunk: Buffer, _encoding, next) => {
        timer ??= setTimeout(late, bound.milliseconds).unref();
        const exceeded = meter.add(chunk);
        if (exceeded === undefined) next(null, chunk);
        else next(this.exceeded(provider, exceeded));
      },
    });
    let timer: NodeJS.Timeout | undefined;
    const late = () => metered.destroy(this.exceeded(provider, `${bound.milliseconds} ms`));
    metered.once("close", () => clearTimeout(timer));
    content.on("error", (error) => metered.destroy(error));
    return metered.on("error", () => content.destroy()) && content.pipe(metered);
  }

  private metered(
    body: ReadableStream<Uint8Array>,
    provider: string,
    bound: Bound,
    finish: () => void,
  ): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    const meter = new Meter(bound);
    return new ReadableStream({
      pull: async (to) => {
        try {
          const { done, value } = await reader.read();
          const exceeded = done ? undefined : meter.add(value);
          if (exceeded !== undefined) throw this.exceeded(provider, exceeded);
          if (!done) return to.enqueue(value);
          finish();
          to.close();
        } catch (error) {
          finish();
          to.error(error);
          await reader.cancel(error).catch(() => undefined);
        }
      },
      cancel: (reason) => (finish(), reader.cancel(reason)),
    });
  }
}

/** The headers with those of the current trace, if there is one. */
function withTrace(headers: RequestInit["headers"]): Pick<RequestInit, "headers"> | undefined {
  const { tracer } = tracing;
  return tracer && { headers: { ...Object.fromEntries(new Headers(headers)), ...tracer.headers() } };
}

/** Counts the received bytes of a response. */
class Meter {
  private size = 0;
  private lineSize = 0;

  constructor(private readonly bound: Bound) {}

  /** Counts a chunk. @returns the limit that the response now exceeds, such as "1024 bytes" */
  add(chunk: Uint8Array): string | undefined {
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
