/** A view, or a table of organizations without a query. */
export interface View {
  readonly name: string;
  readonly query: string | null;
}

/** Our views with their queries, and the tables of organizations. */
const RELATIONS = `
  select c.relname as name, case when c.relkind = 'v' then rtrim(pg_get_viewdef(c.oid), ';') end as query
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`;

/** Words that may follow the name of a table; any other word is its alias. */
const CLAUSES =
  "where|on|join|cross|left|right|full|inner|natural|group|having|window|order|limit|offset|fetch|for|union|except|intersect|returning|set";

/** Finds the named relations in the clauses `from` and `join`, with their aliases. */
const usesOf = (names: readonly string[]): RegExp =>
  new RegExp(
    `\\b((?:from|join)\\s+\\(*)"?(${names.join("|")})"?(?!\\w)(\\s+(?:as\\s+)?(?!(?:${CLAUSES})\\b)[a-z_]\\w*)?`,
    "gi",
  );

const COMPARED = /\b\w+\.organization_id = \w+\.organization_id\b/g;

/**
 * Reads the views. Citus runs a statement on the worker of the organization only if each table in it is compared with
 * parameter 1, also those within lateral subqueries; it reads the rows of all organizations otherwise.
 * @returns a function that writes the queries of the views, with these comparisons, into a statement
 */
export async function readViews(
  query: (text: string) => Promise<readonly View[]>,
): Promise<(sql: string) => string> {
  const rows = await query(RELATIONS);
  const relations = usesOf(rows.map(({ name }) => name));
  const queries = new Map(rows.map(({ name, query }) => [name, query]));
  const expand = (sql: string, uses: RegExp): string =>
    sql.replace(uses, (_, clause: string, name: string, alias = ` ${name}`) => {
      const query = queries.get(name);
      const rowsOf =
        query == null
          ? `select * from ${name} where organization_id = $1`
          : expand(query.replace(COMPARED, "true"), relations);
      return `${clause}(${rowsOf})${alias}`;
    });
  const views = usesOf(rows.flatMap(({ name, query }) => (query === null ? [] : name)));
  return (sql) => expand(sql, views);
}
