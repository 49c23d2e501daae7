import { unlinkSync } from "node:fs";
import type { WriteStream } from "fs-capacitor";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import Upload from "graphql-upload/Upload.mjs";

/** Removes the name of a temporary copy once it is open: a server that is killed leaves no file of its clients. */
export function removeName(copy: WriteStream): void {
  copy.once("ready", () => {
    try {
      unlinkSync(copy["_path"] as unknown as string); // the declared type is only that of the initial null
    } catch {
      return; // fs-capacitor removes it with the copy
    }
    // fs-capacitor's own version reports the missing name as an error.
    copy._cleanup = (done) => {
      copy._cleanupSync();
      copy["_fd"] = null;
      done(null);
    };
  });
}

/** Removes the names of the copies of all files in the operations of a form, whenever they arrive. */
export function removeNames(operations: object): void {
  for (const { promise } of uploadsIn(operations))
    (promise as Promise<FileUpload & { readonly capacitor: WriteStream }>).then(
      ({ capacitor }) => removeName(capacitor),
      () => undefined, // reported to the operation, which waits for the same promise
    );
}

/** The files in a value, each once. */
export function uploadsIn(value: object): ReadonlySet<Upload> {
  const uploads = new Set<Upload>();
  JSON.stringify(value, (_name, part: unknown) => {
    if (part instanceof Upload) uploads.add(part);
    return part instanceof Upload ? null : part;
  });
  return uploads;
}
