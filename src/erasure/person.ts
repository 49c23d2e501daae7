import { indexable, whereText } from "../database/long-texts";
import type { Scope } from "../database/scope";
import { invalid } from "../errors";

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

/** Whether assistants remember somebody directly under an identifier of this kind. */
export const isRemembered = ({ kind }: Person): boolean => kind !== "phoneNumber";
