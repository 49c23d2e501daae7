/** A column that is not null and has no default. */
export interface Column<V> {
  value: V;
  empty: never;
  omittable: false;
}

/** A column that is not null and has a default. */
export interface ColumnWithDefault<V> {
  value: V;
  empty: never;
  omittable: true;
}

/** A column that may be null. */
export interface NullableColumn<V> {
  value: V;
  empty: null;
  omittable: true;
}
