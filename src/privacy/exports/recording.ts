import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { Scope } from "../../platform/database/scope";
import { BOUNDS } from "../../platform/outbound/bounds";

/** A recording that is being fetched. */
interface Recording {
  /** Such as `.wav`; empty when nobody tells. */
  readonly ending: string;
  readonly content: Readable;
}

const ENDINGS: Readonly<Record<string, string>> = {
  "audio/mpeg": ".mp3",
  "audio/mp4": ".m4a",
  "audio/ogg": ".ogg",
  "audio/wav": ".wav",
  "audio/x-wav": ".wav",
};

/** Fetches a recording from the address that the voice engine told. @throws Error that says why it cannot be had */
export async function fetchRecording(scope: Scope, url: string): Promise<Recording> {
  const answer = await scope.ports.outbound.download(url, "the store of recordings", BOUNDS.recording);
  if (!answer.ok || !answer.body) {
    await answer.body?.cancel();
    throw new Error(`Its address answered with status ${answer.status}.`);
  }
  const [type = ""] = (answer.headers.get("content-type") ?? "").split(";");
  const named = /\.[a-z0-9]{1,5}$/i.exec(new URL(url).pathname)?.[0];
  const ending = named ?? ENDINGS[type.trim().toLowerCase()] ?? "";
  return { ending, content: Readable.fromWeb(answer.body as ReadableStream) };
}
