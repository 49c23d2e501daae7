import { isBehindPolicies } from "../../platform/database/behind-policies";
import { unprepared } from "../../platform/database/statement";
import type { Scope } from "../../platform/database/scope";
import { IDENTIFIER_KINDS, type Reach } from "./person";

/*
 * Records that name a person in JSON. Under row-level security, PostgreSQL does not use their indexes for the role, so
 * functions of the owner find them.
 */

/** Characters of a value that the index of files contains. */
const INDEXED_LENGTH = 255;

/** The values in the metadata of a file that its index contains. Must equal the expression of the index. */
const INDEXED = `array[${[...IDENTIFIER_KINDS, "chatId"].map((key) => `left(metadata ->> '${key}', ${INDEXED_LENGTH})`).join(", ")}]`;

/** Parameters: names, ids of chats, and the beginnings of both. */
const FILES = unprepared<{ readonly id: string }>(({ table, db, $ }) => {
  const [names, chats, beginnings] = [$(1), $(2), $(3)].map((list) => db.raw("?::text[]", [list]));
  const rows = table("files").select("id");
  if (isBehindPolicies(db))
    return rows.whereRaw("id = any(array(select parley_files_naming(?, ?, ?)))", [
      names!,
      chats!,
      beginnings!,
    ]);
  return rows.whereRaw(`${INDEXED} && ?`, [beginnings!]).where((either) => {
    for (const kind of IDENTIFIER_KINDS) either.orWhereRaw(`metadata ->> '${kind}' = any(?)`, [names!]);
    either.orWhereRaw("metadata ->> 'chatId' = any(?)", [chats!]);
  });
});

/** The ids of the files whose metadata names a person or one of their chats. */
export async function filesNaming(scope: Scope, { names, chatIds }: Reach): Promise<string[]> {
  const beginnings = [...names, ...chatIds].map((value) => [...value].slice(0, INDEXED_LENGTH).join(""));
  const rows = await scope.readLong(FILES, [names, chatIds, beginnings]);
  return rows.map(({ id }) => id);
}

const TEXTS = unprepared<{ readonly id: string }>(({ table, db, $ }) => {
  const rows = table("sms_received").select(db.raw("message_sid as id"));
  return isBehindPolicies(db)
    ? rows.whereRaw("message_sid = any(array(select parley_texts_from(?)))", [$(1)])
    : rows.whereRaw("sms ->> 'from' = ?", [$(1)]);
});

/** The ids of the texts that a number has sent to the organization. */
export async function textsFrom(scope: Scope, phoneNumber: string): Promise<string[]> {
  const rows = await scope.readLong(TEXTS, [phoneNumber]);
  return rows.map(({ id }) => id);
}
