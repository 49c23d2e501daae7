import { indexable, whereText } from "../../platform/database/values/long-texts";
import type { Scope } from "../../platform/database/scope";
import { invalid } from "../../platform/errors";

/** Kinds of identifiers, and the columns of chats that contain them. */
const COLUMNS = {
  uniqueId: ["uniqueId"],
  // Calls store userId, else anonymousId, as the uniqueId of the person.
  userId: ["userId", "uniqueId"],
  anonymousId: ["anonymousId", "uniqueId", "visitorId"],
  phoneNumber: ["phoneNumber"],
} as const;

export type IdentifierKind = keyof typeof COLUMNS;
export const IDENTIFIER_KINDS = Object.keys(COLUMNS) as IdentifierKind[];

/** A person, identified by one identifier. */
export interface Person {
  readonly kind: IdentifierKind;
  readonly value: string;
}

/** A person in the arguments of an operation. */
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
        message: `identify the person by exactly one of ${IDENTIFIER_KINDS.join(", ")}; got ${given.length === 1 ? "an empty text" : given.length}`,
      },
    ]);
  return given[0]!;
}

/**
 * Chats of a person that started by a moment, which is text because only the database's own format keeps
 * microseconds.
 */
export const chatsOf = (scope: Scope, { kind, value }: Person, until?: string) => {
  const rows = scope.table("chats").where((either) => {
    for (const column of COLUMNS[kind])
      if (column === "userId" || column === "anonymousId")
        either.orWhere((rows) => void whereText(rows, column, value));
      else either.orWhere(column, indexable(value));
  });
  return until === undefined ? rows : rows.where("startedAt", "<=", until);
};

/** The keys that lead to all data about a person: chat ids, and all names under which memory and files are stored. */
export interface Reach {
  readonly chatIds: readonly string[];
  readonly names: readonly string[];
}

/** Finds the chats and names of a person, oldest chats first. */
export async function reachOf(scope: Scope, person: Person, until?: string): Promise<Reach> {
  const rows = chatsOf(scope, person, until).select("id", "uniqueId").orderBy(["startedAt", "id"]);
  const chats = await rows;
  return {
    chatIds: chats.map(({ id }) => id),
    names: [...new Set([person.value, ...chats.flatMap(({ uniqueId }) => uniqueId ?? [])])],
  };
}

/** Whether the assistants' memory uses identifiers of this kind directly. */
export const isRemembered = ({ kind }: Person): boolean => kind !== "phoneNumber";
