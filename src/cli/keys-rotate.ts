import type { Config } from "../platform/settings/config";
import { Crypto } from "../platform/crypto";
import { rotateKeys } from "../backup/rotate-keys";
import { addEncryptionKey, commandDatabase, withEncryptionKeys } from "../platform/database/connections/open";
import { prepare } from "../start/prepare";
import COMMANDS from "./commands.json";
import { parseArguments } from "./arguments";
import { operator } from "./operator";

const { usage: USAGE } = COMMANDS["cli/keys-rotate"];

const onlyOneKey = ({ ENCRYPTION_KEYS: keys }: Config): string =>
  `There is only one encryption key, so there is nothing to rotate. ${
    keys === undefined
      ? "Run `npm run keys:rotate -- --new-key` first."
      : "First restart all servers with ENCRYPTION_KEYS=new,old, and run the command with the same setting."
  }`;

operator(async (settings) => {
  const { values } = parseArguments(USAGE, { options: { "new-key": { type: "boolean", default: false } } });
  if (values["new-key"]) {
    if (settings.ENCRYPTION_KEYS !== undefined || !settings.embedded)
      throw new Error(
        "ENCRYPTION_KEYS is set: put the new key before the old one in that setting (new,old).",
      );
    const file = await addEncryptionKey(settings.DATA_DIR);
    return console.log(
      `Added a new first key to ${file}. Restart the server, then run \`npm run keys:rotate\`.`,
    );
  }
  const { ownerUrl: url, stop } = await commandDatabase(settings, (line) => console.error(line));
  try {
    const config = await withEncryptionKeys(settings, url);
    await prepare(config, url);
    if (new Set(config.ENCRYPTION_KEYS).size === 1) throw new Error(onlyOneKey(settings));
    let done = 0;
    const count = await rotateKeys(
      url,
      new Crypto(config.ENCRYPTION_KEYS!, config.keysFile),
      (column, some) => {
        done += some;
        console.log(`${column}: re-encrypted ${some} (${done} in total)`);
      },
    );
    console.log(`Every stored secret is encrypted with the first key (${count} re-encrypted in this run).`);
    if (config.ENCRYPTION_KEYS!.length > 1)
      console.log(
        `You can now remove the old keys from ${config.keysFile ?? "ENCRYPTION_KEYS"}. Bearer tokens (valid for at most 30 days) and links (one hour) signed with an old key then become invalid. Keep the old keys for earlier backups, which need them.`,
      );
  } finally {
    await stop();
  }
});
