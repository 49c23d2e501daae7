import type { Knex } from "knex";

/** SQL expressions that Knex does not provide. */
export abstract class Expressions {
  protected abstract readonly db: Knex;

  /** Appends an entry to a JSON list, in an update. */
  appended(column: string, entry: object): Knex.Raw {
    return this.db.raw("?? || ?::jsonb", [column, JSON.stringify([entry])]);
  }

  /** Length of a JSON list. */
  lengthOf(column: string, name: string): Knex.Raw {
    return this.db.raw("jsonb_array_length(??) as ??", [column, name]);
  }

  /** A JSON value, for an update. */
  json(value: unknown): Knex.Raw {
    return this.db.raw("?::jsonb", [JSON.stringify(value)]);
  }

  /** Merges values into a JSON object, in an update. */
  merged(column: string, values: object): Knex.Raw {
    return this.db.raw("?? || ?::jsonb", [column, JSON.stringify(values)]);
  }

  /** Sets a key of a JSON object to the number in another column, in an update; only immutable functions, for Citus. */
  noted(column: string, name: string, from: string): Knex.Raw {
    return this.db.raw("jsonb_set(??, array[?::text], ??::text::jsonb)", [column, name, from]);
  }

  /** The database's time plus an offset in ms, for comparison with stored times. */
  now(offset = 0): Knex.Raw {
    return this.db.raw("now() + ? * interval '1 millisecond'", [offset]);
  }

  /** Bytes of a row, uncompressed. Without its times: in JSON, they are longer or shorter by their last digits. */
  sizeOf(table: string, name: string): Knex.Raw {
    return this.db.raw("pg_column_size(to_jsonb(??) - '{created_at,updated_at}'::text[]) as ??", [
      table,
      name,
    ]);
  }

  /** A column as text, for types without a JavaScript equivalent. */
  asText(column: string, name: string): Knex.Raw {
    return this.db.raw("??::text as ??", [column, name]);
  }
}
