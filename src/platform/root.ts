import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const rootAbove = (folder: string): string =>
  existsSync(join(folder, "package.json")) ? folder : rootAbove(dirname(folder));

/** The folder of the project. This file may be in src/, in dist/ or in a bundle. */
export const ROOT = rootAbove(__dirname);
