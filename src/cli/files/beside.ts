import { hash } from "node:crypto";
import { isFields, type Fields, type KnowledgeFile } from "./kinds";
import { conflictIn } from "./merge-conflict";
import { withoutLastBreak } from "./resolve";
import { isAbsolutePath } from "./write-files";

/** Longest text that is written into a YAML file, if it has one line. */
const MAX_INLINE = 120;

/** A value that may be stored in a file of its own, beside the YAML file. Paths are relative to the folder of the YAML file. */
export abstract class Beside {
  /** Path of its file; undefined if the YAML file has the value itself. */
  place: string | undefined;

  constructor(
    /** Path to use if it has no file yet. */
    readonly path: string,
    /** Path that the YAML file names so far. */
    readonly named: string | undefined,
  ) {
    this.place = named;
  }

  /** Two values may share a file if these are equal. */
  abstract readonly identity: string;
  abstract readonly isInline: boolean;
  abstract fits(content: Buffer | undefined): boolean;
  /** @param before the content of the file so far */
  abstract content(before: Buffer | undefined): string | Promise<Uint8Array>;
}

export class FileText extends Beside {
  /** @param present the value of the field in the YAML file so far */
  constructor(
    readonly text: string,
    path: string,
    private readonly present: unknown,
  ) {
    super(path, isFields(present) && !conflictIn(text) ? relativePath(present.file) : undefined);
  }

  get identity(): string {
    return `text ${this.text}`;
  }

  /**
   * Files are read without CRLF line ends, so a text that has some stays in the YAML file. So does one with a merge conflict,
   * because such files are refused.
   */
  get isInline(): boolean {
    if (this.named !== undefined) return false;
    const isShort = !this.text.includes("\n") && this.text.length <= MAX_INLINE;
    const isUnreadable = this.text.includes("\r\n") || conflictIn(this.text) !== undefined;
    return isShort || isUnreadable || (this.present !== undefined && !isFields(this.present));
  }

  fits(content: Buffer | undefined): boolean {
    if (content === undefined) return false;
    const text = content.toString().replace(BYTE_ORDER_MARK, "");
    return withoutLastBreak(withLf(text)) === withLf(this.text);
  }

  content(before: Buffer | undefined): string {
    const text = `${withLf(this.text)}\n`;
    // Readers strip one byte order mark, so a text that begins with one needs a second.
    const mark = [before?.toString() ?? "", text].some((one) => BYTE_ORDER_MARK.test(one)) ? "\uFEFF" : "";
    return mark + (before?.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text);
  }
}

/** A file that an assistant answers from. */
export class Attachment extends Beside {
  readonly isInline = false;

  constructor(
    private readonly file: KnowledgeFile,
    path: string,
    named: string | undefined,
  ) {
    super(path, named);
  }

  get identity(): string {
    return `file ${this.file.digest}`;
  }

  /** Entry in the list `files`. */
  get entry(): string | Fields {
    const { name } = this.file;
    return baseOf(this.place!).normalize("NFC") === name ? this.place! : { file: this.place, name };
  }

  fits(content: Buffer | undefined): boolean {
    return content !== undefined && hash("sha256", content, "hex") === this.file.digest;
  }

  content(): Promise<Uint8Array> {
    return this.file.content();
  }
}

/** Editors on Windows put it at the start of files. */
const BYTE_ORDER_MARK = /^\uFEFF/;

const withLf = (text: string): string => text.replaceAll("\r\n", "\n");

const relativePath = (file: unknown): string | undefined =>
  typeof file === "string" && !isAbsolutePath(file) ? file : undefined;

export const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** All values of a record that may have a file. */
export function besideIn(value: unknown): Beside[] {
  if (value instanceof Beside) return [value];
  if (Array.isArray(value)) return value.flatMap(besideIn);
  return isFields(value) ? Object.values(value).flatMap(besideIn) : [];
}
