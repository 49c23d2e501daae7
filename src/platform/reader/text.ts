import { Lexer, type Token, type Tokens } from "marked";
import type { Block } from "./block";

/** Text and Markdown, which is text: what looks like a heading is one, all else stays as it was written. */
export function readText(content: Buffer): Block[] {
  const text = decode(content).replace(/\r\n?/g, "\n");
  return tokensOf(text)?.map(blockOf) ?? text.split(/\n\s*\n/).map((paragraph) => ({ text: paragraph }));
}

/** UTF-8, without the mark that some programs put before it. */
export const decode = (content: Buffer): string => new TextDecoder("utf-8").decode(content);

/** Undefined where the lexer fails: on lines of many megabytes, and on thousands of quotes inside each other. */
function tokensOf(text: string): Token[] | undefined {
  try {
    return new Lexer().blockTokens(text);
  } catch {
    return undefined;
  }
}

function blockOf(token: Token): Block {
  if (token.type !== "heading") return { text: token.raw };
  const { text, depth } = token as Tokens.Heading; // by its type
  return { text, depth };
}
