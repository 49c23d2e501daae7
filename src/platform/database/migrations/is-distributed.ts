import type { Knex } from "knex";

/** Whether the extension is in the database. */
export const HAS_CITUS = "select exists (select from pg_extension where extname = 'citus') as answer";
/** Whether the rows of organizations are distributed; fails without Citus. */
const IS_DISTRIBUTED = `
  select exists (select from pg_dist_partition where logicalrelid = to_regclass('public.chats')) as answer`;

interface Asked {
  query(text: string): Promise<{ readonly rows: readonly { readonly answer: boolean }[] }>;
}

/** The answer of a question that one statement answers. */
export async function isTrue(client: Asked, question: string): Promise<boolean> {
  const { rows } = await client.query(question);
  return rows[0]!.answer;
}

/** Whether the rows of organizations are distributed in the database of a pool or a transaction. */
export async function isDistributed(db: Knex): Promise<boolean> {
  const asked = { query: async (text: string) => db.raw<{ rows: { answer: boolean }[] }>(text) };
  return (await isTrue(asked, HAS_CITUS)) && (await isTrue(asked, IS_DISTRIBUTED));
}
