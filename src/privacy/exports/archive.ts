import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";

/** A file of an archive. */
export interface Entry {
  readonly path: string;
  readonly content: AsyncIterable<string | Uint8Array>;
}

/** Creates a ZIP archive that is written while it is read; memory is limited to the stream buffers. */
export function archiveOf(entries: AsyncIterable<Entry>): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable; // yazl's PassThrough
  let current: Readable | undefined;
  // The reader may stop early.
  output.on("close", () => current?.destroy(new Error("The reader of the archive has stopped.")));
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
