import type { IncomingMessage } from "node:http";

/**
 * Listens for the raw text of a form's field `operations`. graphql-upload does not return it: it parses the form with a
 * parser of its own, into which it pipes the form.
 * @returns the text, after the form was read
 */
export function operationsTextOf(form: IncomingMessage): () => string {
  let text = "";
  const pipe = form.pipe.bind(form);
  form.pipe = (parser, options) => {
    parser.on("field", (name: string, value: string) => void (name === "operations" && (text = value)));
    return pipe(parser, options);
  };
  return () => text;
}
