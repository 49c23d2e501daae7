import pg from "pg";
import { readStored } from "../../json/json-source";
import { TIMESTAMPTZ, utcTime } from "./utc-time";

/** OID of the type json, which preserves the text, unlike jsonb. */
const JSON_TEXT = 114;

type Parse = (text: string) => unknown;

/** How the text of a column's value is read, by its type, in the form that pg expects. */
export const types = {
  getTypeParser(type: number, format?: string): Parse {
    if (format === "binary") return pg.types.getTypeParser(type, "binary") as Parse;
    if (type === JSON_TEXT) return readStored;
    return type === TIMESTAMPTZ ? utcTime : (pg.types.getTypeParser(type, "text") as Parse);
  },
};
