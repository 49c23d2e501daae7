import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { Scope } from "../../platform/database/scope";
import { BOUNDS } from "../../platform/outbound/bounds";

/** A recording that is being downloaded. */
interface Recording {
  /** File extension such as `.wav`; empty if unknown. */
  readonly extension: string;
  readonly content: Readable;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "audio/mpeg": ".mp3",
  "audio/mp4": ".m4a",
  "audio/ogg": ".ogg",
  "audio/wav": ".wav",
  "audio/x-wav": ".wav",
};

/** Downloads a recording from the voice engine's URL. @throws Error that explains why it is not available */
export async function fetchRecording(scope: Scope, url: string): Promise<Recording> {
  const answer = await scope.ports.outbound.download(url, "the store of recordings", BOUNDS.recording);
  if (!answer.ok || !answer.body) {
    await answer.body?.cancel();
    throw new Error(`The recording's server returned status ${answer.status}.`);
  }
  const [type = ""] = (answer.headers.get("content-type") ?? "").split(";");
  const named = /\.[a-z0-9]{1,5}$/i.exec(new URL(url).pathname)?.[0];
  const extension = named ?? EXTENSIONS[type.trim().toLowerCase()] ?? "";
  return { extension, content: Readable.fromWeb(answer.body as ReadableStream) };
}
