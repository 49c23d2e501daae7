/** Descriptions of the command-line programs, for `--help`. */
export const EFFECTS: Readonly<Record<string, string>> = {
  "cli/analytics-link": "Prints a link that opens the analytics page of an organization without a password.",
  "cli/audit-export": "Prints the audit log of an organization, one JSON object per line. Changes nothing.",
  "cli/audit-verify":
    "Checks that no entry of the audit logs was changed or removed. Changes nothing; exit code 1 if one was.",
  "cli/backup": "Writes a backup of the database and the files into a new folder. Servers may run meanwhile.",
  "cli/connect": "Tests a model with one request, then stores it for an organization or in .env.",
  "cli/database-roles":
    "Prints the SQL that creates database roles for row-level security; with --apply, runs it instead.",
  "cli/files-adopt":
    "Stores the files of the installation in the folder or bucket of this server's settings from now on, and copies none. Running servers with another folder or bucket then refuse uploads and downloads.",
  "cli/key-create": "Creates an API key and prints it once.",
  "cli/keys-rotate":
    "Encrypts all stored secrets with the first encryption key; with --new-key, only adds a key to the file encryption-keys.",
  "cli/move": "Copies the database into an empty one and holds the old one. Stop all servers first.",
  "cli/org-create": "Creates an organization with its keys and prints them once.",
  "cli/release":
    "Lets a restored or moved database send its pending work; with --drop, discards that work first.",
  "cli/restore": "Loads a backup into an empty database and an empty DATA_DIR.",
  "cli/rows":
    "For developers: migrates a temporary database and rewrites src/platform/database/tables.generated.ts.",
};
