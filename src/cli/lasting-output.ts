/**
 * Lets a command complete its work after the program that reads its output has ended, as `head` does. Without this, it would
 * end at its next line, between two changes.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
}
