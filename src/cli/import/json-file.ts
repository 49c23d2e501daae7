import { readFileSync } from "node:fs";

/** The encoding of a text by its byte order mark, which the decoder removes: tools of Windows write UTF-16. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

/** The JSON of a file. @throws Error that says why there is none */
export function jsonIn(file: string): unknown {
  try {
    const content = readFileSync(file);
    return JSON.parse(new TextDecoder(encodingOf(content), { fatal: true }).decode(content));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      throw new Error(`The file ${file} is not in UTF-8. Save it in UTF-8.`, { cause: error });
    if (["ENOENT", "ENOTDIR"].includes(code)) throw new Error(`There is no file ${file}.`, { cause: error });
    if (code === "EISDIR") throw new Error(`${file} is a folder. Name a file.`, { cause: error });
    throw new Error(`The file ${file} cannot be read as JSON: ${(error as Error).message}`, { cause: error });
  }
}
