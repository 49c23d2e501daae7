import type { IncomingMessage } from "node:http";
import Negotiator from "negotiator";

const PREFERRED = ["br", "gzip"];

/** The package's types lack the order of encodings that a client accepts equally. */
interface EncodingChoice {
  encoding(available: readonly string[], order: { preferred: string[] }): string | undefined;
}

/** The encoding among the available ones that the client prefers; undefined for none. */
export function encodingFor(request: IncomingMessage, available: readonly string[]): string | undefined {
  const choice: EncodingChoice = new Negotiator(request);
  const encoding = choice.encoding([...available, "identity"], { preferred: PREFERRED });
  return encoding === "identity" ? undefined : encoding;
}
