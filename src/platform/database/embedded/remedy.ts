import { readFile, statfs } from "node:fs/promises";
import { join } from "node:path";

const FULL = "Free space on the disk of DATA_DIR, then start again.";

/** Remedies by what PostgreSQL logs if it is not created or does not start. Its log has no details and hints, which contain personal data. */
const REMEDIES: readonly (readonly [RegExp, (cluster: string, version: string) => string])[] = [
  [
    /incompatible with server/,
    (cluster, version) =>
      `The files in ${cluster} are of PostgreSQL ${version}, or of a machine of another architecture; this version of Parley cannot read them. Run \`npm run backup\` with the version and on the machine that wrote them, then \`npm run restore\` here into an empty DATA_DIR.`,
  ],
  [
    /has invalid permissions/,
    (cluster) => `Other users can enter the folder, which PostgreSQL refuses. Run: chmod 700 '${cluster}'`,
  ],
  [
    /has wrong ownership/,
    (cluster) =>
      `The folder must belong to the user that runs the server. Run: sudo chown -R USER '${cluster}'`,
  ],
  [
    /could not look up effective user ID/,
    () =>
      "The embedded PostgreSQL needs a user with an account on this machine (an entry in /etc/passwd). Start the server as such a user, or set DATABASE_URL to a PostgreSQL of your own.",
  ],
  [/No space left on device/, () => FULL],
];

/** The remedy for a PostgreSQL that is not created or does not start; empty if its words do not show the cause. */
export async function remedyFor(said: string, cluster: string): Promise<string> {
  // A full disk has no room for the log either.
  if (said === "" && (await statfs(cluster)).bavail === 0) return `\nThe disk is full. ${FULL}`;
  const remedy = REMEDIES.find(([pattern]) => pattern.test(said))?.[1];
  if (!remedy) return "";
  const version = await readFile(join(cluster, "PG_VERSION"), "utf8").catch(() => "of unknown version");
  return `\n${remedy(cluster, version.trim())}`;
}
