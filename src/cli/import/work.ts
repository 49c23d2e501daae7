import type { JsonObject } from "../../platform/json/json-object";
import type { Http } from "./http";
import type { Report } from "./report";
import type { Source } from "./source";
import type { Target } from "./target";

/** Everything that the parts of an import use. */
export interface Import {
  readonly source: Source;
  readonly target: Target;
  readonly report: Report;
  /** Client for links, which must not get the key of the source. */
  readonly open: Http;
  readonly progress: (line: string) => void;
}

/** The value without its undefined fields. */
export const defined = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));
