/** A warning of REST in the header, inside quotes. */
const QUOTED = /299 parley "((?:\\.|[^"\\])*)"/g;
/** Letters outside ASCII are percent-encoded in a header. */
const ENCODED = /(?:%[89A-F][\dA-F])+/g;

/** The sentences in the header `Warning` of a response. */
export const warningsIn = ({ headers }: Response): string[] =>
  [...(headers.get("Warning") ?? "").matchAll(QUOTED)].map(([, text]) =>
    text!.replace(/\\(.)/g, "$1").replace(ENCODED, decoded),
  );

/** Encoded letters, or the same text if it is none of a whole letter: a long header is cut. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
