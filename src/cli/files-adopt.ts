import { recordCommand } from "../account/audit/record-command";
import { FileStore } from "../assistants/files/file-store";
import { command } from "./command";

/** `npm run --silent files:adopt`: from now on the installation keeps its files where this server's settings say. */
command([], async (database) => {
  await database.transaction(async (database) => {
    await new FileStore(database, database.scope("").ports.storage).adopt();
    await recordCommand(database, "files:adopt");
  });
  return { adopted: true };
});
