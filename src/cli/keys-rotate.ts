import { parseArgs } from "node:util";
import { Crypto } from "../platform/crypto";
import { rotateKeys } from "../backup/rotate-keys";
import { addEncryptionKey, commandDatabase, withEncryptionKeys } from "../platform/database/open";
import { prepare } from "../start/prepare";
import { operator } from "./operator";

/** `npm run keys:rotate [-- --new-key]` */
operator(async (settings) => {
  const { values } = parseArgs({ options: { "new-key": { type: "boolean", default: false } } });
  if (values["new-key"]) {
    if (settings.ENCRYPTION_KEYS !== undefined || !settings.embedded)
      throw new Error(
        "ENCRYPTION_KEYS is a setting here: put the new key before the old one there (new,old).",
      );
    const file = await addEncryptionKey(settings.DATA_DIR);
    return console.log(
      `A new key stands first in ${file}. Restart the server, then run \`npm run keys:rotate\`.`,
    );
  }
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  try {
    const config = await withEncryptionKeys(settings);
    await prepare(config, url);
    let done = 0;
    const count = await rotateKeys(url, new Crypto(config.ENCRYPTION_KEYS!), (column, some) => {
      done += some;
      console.log(`${column}: ${some} sealed anew (${done} in all)`);
    });
    console.log(`Every stored secret is sealed with the first key (${count} by this run).`);
    if (config.ENCRYPTION_KEYS!.length > 1)
      console.log(
        "The old keys can be removed from ENCRYPTION_KEYS. Bearer tokens and links that they signed end then: those live 30 days at most, links an hour. Backups made before need the old keys: keep them with those.",
      );
  } finally {
    await stop();
  }
});
