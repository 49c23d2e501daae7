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

/** Whether a key may import. */
export const mayImport = ({ permissions }: JsonObject): boolean =>
  Array.isArray(permissions) && permissions.includes("import");

/** The note about a key that may import at the source. Here it keeps its other permissions. */
export const NO_IMPORTER =
  "The permission import, which only the command line grants, is not taken over. If this key was made for an earlier import only, delete it here, too.";
