import type { Knex } from "knex";

/** Expressions of SQL that Knex has no words for. */
export abstract class Expressions {
  protected abstract readonly db: Knex;

  /** A JSON list with one more entry, for an update. */
  appended(column: string, entry: object): Knex.Raw {
    return this.db.raw("?? || ?::jsonb", [column, JSON.stringify([entry])]);
  }

  /** How long a JSON list is. */
  lengthOf(column: string, name: string): Knex.Raw {
    return this.db.raw("jsonb_array_length(??) as ??", [column, name]);
  }

  /** A whole JSON value, for an update. */
  json(value: unknown): Knex.Raw {
    return this.db.raw("?::jsonb", [JSON.stringify(value)]);
  }

  /** A JSON object with other values beside or in place of its own, for an update. */
  merged(column: string, values: object): Knex.Raw {
    return this.db.raw("?? || ?::jsonb", [column, JSON.stringify(values)]);
  }

  /** A JSON object in which another column's value is noted under a name, for an update. */
  noted(column: string, name: string, from: string): Knex.Raw {
    return this.db.raw("?? || jsonb_build_object(?::text, ??)", [column, name, from]);
  }

  /** The database's time, so many milliseconds later: what stored times are compared with. */
  now(offset = 0): Knex.Raw {
    return this.db.raw("now() + ? * interval '1 millisecond'", [offset]);
  }

  /** A column as text, for types that JavaScript has no like of. */
  asText(column: string, name: string): Knex.Raw {
    return this.db.raw("??::text as ??", [column, name]);
  }
}
