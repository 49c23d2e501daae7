import { makeFolder } from "../../platform/make-folder";

/** Creates the folder that a command writes into. @throws Error that names the path */
export function makeOutputFolder(folder: string, mode?: number): void {
  try {
    makeFolder(folder, mode);
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "EEXIST"
        ? `${path} is a file, not a folder.`
        : `The folder ${path} cannot be created: ${message}.`;
    throw new Error(reason, { cause: error });
  }
}
