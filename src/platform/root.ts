import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

const rootAbove = (folder: string): string =>
  existsSync(join(folder, "package.json")) ? folder : rootAbove(dirname(folder));

/** The folder of the project, or of the installed package. This file may be in src/, in dist/ or in a bundle. */
export const ROOT = realpathSync(rootAbove(__dirname));

/** The folders of the packages that we use: our own and, if Parley is an installed package, the one that contains it. */
export const PACKAGE_FOLDERS: readonly string[] = [
  join(ROOT, "node_modules"),
  ...(/^.*?\/node_modules(?=\/)/.exec(ROOT) ?? []),
];
