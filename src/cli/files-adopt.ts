import { recordCommand } from "../account/audit/record-command";
import { FileStore } from "../assistants/files/file-store";
import { command } from "./command";

/** Makes the file storage in this server's settings the storage of the installation. */
command({ usage: "npm run --silent files:adopt", options: [] }, async (database) => {
  await database.transaction(async (database) => {
    await new FileStore(database, database.scope("").ports.storage).adopt();
    await recordCommand(database, "files:adopt");
  });
  return { adopted: true };
});
