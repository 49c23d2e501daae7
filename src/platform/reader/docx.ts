import mammoth from "mammoth";
import { UnreadableDocument, type Block } from "./block";
import { htmlBlocks } from "./html";

/** Reads headings, paragraphs, lists and tables of a Word document; ignores images. */
export async function readDocx(content: Buffer): Promise<Block[]> {
  const options = { convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: "" })) };
  const { value } = await mammoth.convertToHtml({ buffer: content }, options).catch((error: Error) => {
    throw new UnreadableDocument(`The DOCX file is broken: ${error.message}`);
  });
  return htmlBlocks(value);
}
