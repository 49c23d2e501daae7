import { accessSync, constants, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const IN_MEMORY = "/dev/shm";
/** Maximum size of the databases of a run, in bytes. */
const ROOM = 6 * 2 ** 30;

/**
 * The folder for databases: in memory if there is space. Creating a database on a slow disk takes almost a second, and
 * on ext4 a new file takes the more CPU time, the more files were removed just before.
 */
export function roomiest(): string {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize > ROOM ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
