import { indexable, whereText } from "../../platform/database/long-texts";
import type { Scope } from "../../platform/database/scope";
import { invalid } from "../../platform/errors";

/** What a person is known by, and the columns of their chats that hold it. */
const COLUMNS = {
  uniqueId: ["uniqueId"],
  // The person behind a call is remembered under userId, else anonymousId.
  userId: ["userId", "uniqueId"],
  anonymousId: ["anonymousId", "uniqueId", "visitorId"],
  phoneNumber: ["phoneNumber"],
} as const;

export type IdentifierKind = keyof typeof COLUMNS;
export const IDENTIFIER_KINDS = Object.keys(COLUMNS) as IdentifierKind[];

/** A person, by one identifier. */
export interface Person {
  readonly kind: IdentifierKind;
  readonly value: string;
}

/** The same as arguments of an operation. */
export type PersonInput = { readonly [K in IdentifierKind]?: string | null };

/** @throws BAD_USER_INPUT unless exactly one identifier is given */
export function personOf(input: PersonInput): Person {
  const given = IDENTIFIER_KINDS.flatMap((kind) => {
    const value = input[kind];
    return value == null ? [] : [{ kind, value }];
  });
  if (given.length !== 1 || given[0]!.value === "")
    throw invalid([
      {
        path: given[1]?.kind ?? given[0]?.kind ?? "uniqueId",
        message: `name the person by exactly one of ${IDENTIFIER_KINDS.join(", ")}; got ${given.length === 1 ? "an empty text" : given.length}`,
      },
    ]);
  return given[0]!;
}

/** The chats of a person that began up to a moment, which is text as only the database's own form keeps microseconds. */
export const chatsOf = (scope: Scope, { kind, value }: Person, until?: string) => {
  const rows = scope.table("chats").where((either) => {
    for (const column of COLUMNS[kind])
      if (column === "userId" || column === "anonymousId")
        either.orWhere((rows) => void whereText(rows, column, value));
      else either.orWhere(column, indexable(value));
  });
  return until === undefined ? rows : rows.where("startedAt", "<=", until);
};

/** All that belongs to a person, by their chats and by every name that their facts and files stand under. */
export interface Reach {
  readonly chatIds: readonly string[];
  readonly names: readonly string[];
}

/** The oldest chats first. */
export async function reachOf(scope: Scope, person: Person, until?: string): Promise<Reach> {
  const rows = chatsOf(scope, person, until).select("id", "uniqueId").orderBy(["startedAt", "id"]);
  const chats = await rows;
  return {
    chatIds: chats.map(({ id }) => id),
    names: [...new Set([person.value, ...chats.flatMap(({ uniqueId }) => uniqueId ?? [])])],
  };
}

/** Files whose metadata names the person, or one of their chats. */
export const filesOf = (scope: Scope, { names, chatIds }: Reach) =>
  scope.table("files").where((either) => {
    for (const kind of IDENTIFIER_KINDS)
      either.orWhereRaw("files.metadata ->> ? = any(?::text[])", [kind, [...names]]);
    either.orWhereRaw("files.metadata ->> 'chatId' = any(?::text[])", [[...chatIds]]);
  });

/** Whether assistants remember somebody directly under an identifier of this kind. */
export const isRemembered = ({ kind }: Person): boolean => kind !== "phoneNumber";
