import type { Manifest } from "./manifest";

/** The text in every backup for people who find it later. */
export function explanation(
  { version, at }: Pick<Manifest, "version" | "at">,
  encrypted: boolean,
  withPassphrase: boolean,
): string {
  const manifest = encrypted ? "manifest.json.age" : "manifest.json";
  const key = withPassphrase ? "the passphrase in BACKUP_KEY" : "the secret key of age";
  const identity = withPassphrase ? "key.age" : "FILE_WITH_THE_SECRET_KEY";
  const lines = [
    `A backup of Parley ${version}, as of ${at}.`,
    `It is complete if ${manifest} exists, which is written last.`,
    `Restore it with: npm run restore -- PLACE (see docs/backup.md).`,
    ...(encrypted
      ? [`It is encrypted; ${key} decrypts it. Without Parley: age --decrypt -i ${identity} jobs.copy.gz.age`]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}
