import { EventSourceParserStream } from "eventsource-parser/stream";
import { ParleyError } from "./parley-error";
import { resultOf, type GraphQLResult } from "./run-operation";
import { credential, failureOf, startTimer, type SendOptions } from "./send";
import { linked } from "./signals";
import type { Transport } from "./subscribe";

/** Subscriptions as Server-Sent Events: each is a request of its own. */
export const eventStream =
  (url: string, options: SendOptions): Transport =>
  async (payload, signal) => {
    const { fetch = globalThis.fetch } = options;
    const headers = {
      ...(await credential(options)),
      "Content-Type": "application/json",
      Accept: "text/event-stream",
    };
    const { signal: either, abort } = linked(signal); // stays linked as long as the stream is read
    const request = new Request(url, {
      method: "POST",
      headers,
      body: JSON.stringify(payload),
      signal: either,
    });
    const stop = startTimer(options, abort);
    try {
      const response = await fetch(request);
      const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
      if (!isStream || !response.body) return [await resultOf(url, response)] as never;
      return results(response.body, url);
    } catch (error) {
      throw failureOf(error, url, signal);
    } finally {
      stop();
    }
  };

/** @throws ParleyError with NETWORK if the stream breaks off */
async function* results(body: ReadableStream<Uint8Array>, url: string): AsyncGenerator<GraphQLResult> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  let cause: unknown;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.event === "complete") return;
      yield JSON.parse(value.data) as GraphQLResult;
    }
  } catch (error) {
    cause = error;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  throw new ParleyError(`The connection to ${url} broke off.`, { code: "NETWORK", cause });
}
