import mammoth from "mammoth";
import { Unreadable, type Block } from "./block";
import { htmlBlocks } from "./html";

/** A Word document: its headings, paragraphs, lists and tables. Pictures are not looked at. */
export async function readDocx(content: Buffer): Promise<Block[]> {
  const options = { convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: "" })) };
  const { value } = await mammoth.convertToHtml({ buffer: content }, options).catch((error: Error) => {
    throw new Unreadable(`The DOCX file is broken: ${error.message}`);
  });
  return htmlBlocks(value);
}
