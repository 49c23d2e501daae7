import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";

/** A file of an archive. */
export interface Entry {
  readonly path: string;
  readonly content: AsyncIterable<string | Uint8Array>;
}

/** A ZIP archive, written while it is read: entry after entry, of which no more is held than streams buffer. */
export function archiveOf(entries: AsyncIterable<Entry>): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable; // a PassThrough
  let current: Readable | undefined;
  // Whoever reads the archive may give up.
  output.on("close", () => current?.destroy(new Error("The archive is not read any further.")));
  const failed = (error: unknown) => void output.destroy(error as Error);
  zip.on("error", failed);
  const fill = async () => {
    for await (const { path, content } of entries) {
      if (output.destroyed) return;
      current = Readable.from(content, { objectMode: false });
      zip.addReadStream(current, path);
      await finished(current);
    }
    zip.end();
  };
  fill().catch(failed);
  return output;
}
