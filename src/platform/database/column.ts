/** A column that always has a value, which every new row must give. */
export interface Column<V> {
  value: V;
  empty: never;
  omittable: false;
}

/** A column that always has a value: a new row may leave it to the database. */
export interface Defaulted<V> {
  value: V;
  empty: never;
  omittable: true;
}

/** A column that may be null. */
export interface Nullable<V> {
  value: V;
  empty: null;
  omittable: true;
}
