import { Lexer, type Token, type Tokens } from "marked";
import type { Block } from "./block";

/** Reads plain text and Markdown. Markdown headings become headings; everything else stays as written. */
export function readText(content: Buffer): Block[] {
  const text = decode(content).replace(/\r\n?/g, "\n");
  return tokensOf(text)?.map(blockOf) ?? text.split(/\n\s*\n/).map((paragraph) => ({ text: paragraph }));
}

/** Decodes UTF-8 and removes a byte order mark. */
export const decode = (content: Buffer): string => new TextDecoder("utf-8").decode(content);

/** Markdown tokens; undefined if the lexer fails, as on lines of many megabytes or thousands of nested quotes. */
function tokensOf(text: string): Token[] | undefined {
  try {
    return new Lexer().blockTokens(text);
  } catch {
    return undefined;
  }
}

function blockOf(token: Token): Block {
  if (token.type !== "heading") return { text: token.raw };
  const { text, depth } = token as Tokens.Heading; // checked by `type`
  return { text, depth };
}
