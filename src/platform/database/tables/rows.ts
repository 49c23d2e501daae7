import type { Knex } from "knex";
import type { Column, ColumnWithDefault, NullableColumn } from "./column";
import type { ValueTypes } from "./value-types";
import { COLUMNS, type Tables as Stored } from "./tables.generated";

/** Exists only in databases with pgvector, so the generated tables lack it. */
interface Vectors {
  passage_embeddings: {
    organizationId: Column<string>;
    passageId: Column<string>;
    model: Column<string>;
    embedding: Column<string>;
  };
}

type Tables = Stored & Vectors;
export type AnyTable = keyof Tables;

type AnyColumn = Column<unknown> | ColumnWithDefault<unknown> | NullableColumn<unknown>;
type EmptyOf<C> = C extends AnyColumn ? C["empty"] : never;
type ValueOf<T, K, C> = C extends AnyColumn
  ? T extends keyof ValueTypes
    ? K extends keyof ValueTypes[T]
      ? ValueTypes[T][K]
      : C["value"]
    : C["value"]
  : never;

/** A row of each table, as a query returns it. */
export type Rows = {
  [T in AnyTable]: {
    [K in keyof Tables[T]]: ValueOf<T, K, Tables[T][K]> | EmptyOf<Tables[T][K]>;
  };
};

/** A query of all columns of a table. */
export type RowsOf<T extends AnyTable> = Knex.QueryBuilder<Rows[T], Rows[T][]>;

/** Columns that a new row may omit. */
type OmittableColumn<T extends AnyTable> = {
  [K in keyof Tables[T]]: Tables[T][K] extends { omittable: true } ? K : never;
}[keyof Tables[T]];

/** Times may be supplied as text in the database's format, which keeps microseconds. */
type AssignableValue<V> = V | (Date extends V ? string : never);
type Values<T extends AnyTable> = { [K in keyof Rows[T]]: AssignableValue<Rows[T][K]> };

/** A new row of an organization's table; Scope adds the organization. */
export type New<T extends AnyTable> = Readonly<
  Omit<Values<T>, OmittableColumn<T> | "organizationId"> & Partial<Pick<Values<T>, OmittableColumn<T>>>
>;

/** A row as clients see it, without the organization and the columns named in `Hidden`. */
export type PublicRow<T extends AnyTable, Hidden extends keyof Rows[T] = never> = Readonly<
  Omit<Rows[T], "organizationId" | Hidden>
>;

/** Client-supplied values of a new record; the service adds the id and the times. */
export type Input<T extends AnyTable> = Omit<New<T>, "id" | "createdAt" | "updatedAt" | "deletedAt">;

/** Columns of a table except the given ones. Columns added by later migrations are included. */
export function columnsExcept<T extends keyof Stored, C extends keyof Stored[T]>(
  table: T,
  ...except: readonly C[]
): Exclude<keyof Stored[T], C>[] {
  const left: readonly unknown[] = except;
  return COLUMNS[table].filter((name): name is Exclude<typeof name, C> => !left.includes(name));
}
