import { recordCommand } from "../account/audit/record-command";
import { FileStore } from "../assistants/files/file-store";
import { missingFiles } from "../assistants/files/missing-files";
import COMMANDS from "./commands.json";
import { command } from "./command";

const { usage: USAGE } = COMMANDS["cli/files-adopt"];

/** Makes the file storage in this server's settings the storage of the installation. */
command({ usage: USAGE, options: [], flags: ["force"] }, async (database, { force }, { settings }) => {
  const { storage } = database.scope("").ports;
  const { missing, count } = await missingFiles(database, storage);
  const servers = await database.runningServers();
  const place =
    settings.S3_BUCKET === undefined ? `Folder: ${settings.filesDir}` : `Bucket: ${settings.S3_BUCKET}`;
  const facts = [
    place,
    `Stored files that are missing there: ${missing} of ${count}`,
    `Running servers on this database: ${servers}`,
  ];
  for (const line of facts) console.error(line);
  if (force === undefined && missing + servers > 0)
    throw new Error(
      "Nothing was changed. Copy the missing files here and stop the servers, or add --force: downloads of missing files then fail, and running servers with another folder or bucket refuse all files.",
    );
  await database.transaction(async (database) => {
    await new FileStore(database, storage).adopt();
    await recordCommand(database, "files:adopt");
  });
  return { adopted: true };
});
