import { groupBy } from "../../platform/group-by";
import { commandOf, digestOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { digesting, type ErasureDigest } from "../people/digests";
import { Erasures, SUBJECTS } from "./erasures";
import { IDENTIFIER_KINDS, type IdentifierKind, type Person } from "../people/person";

/** Rows read per statement. */
const BATCH_SIZE = 2_000;

const KIND_OF = Object.fromEntries(
  Object.entries(SUBJECTS).map(([kind, subject]) => [subject, kind]),
) as Record<string, IdentifierKind>;

/** An erasure in a backup's manifest. */
export interface BackedUpErasure extends Omit<ErasureDigest, "kind"> {
  readonly subject: string;
}

/** A command after which erased data is back. */
export type RepeatingCommand = "restore" | "hold";

/** Converts the erasures in a backup's manifest, for the database that an older backup is restored into. */
export const digestsIn = (erasures: readonly BackedUpErasure[]): ErasureDigest[] =>
  erasures.map(({ subject, ...digest }) => ({ ...digest, kind: KIND_OF[subject]! })); // only erasures of people have digests

/**
 * Repeats erasures after a restore: erases everyone whose digest is among these, except for data newer than their
 * erasure. Each erasure runs as a job and has a receipt. Safe to repeat.
 * @returns the number of people found
 */
export async function eraseAgain(
  database: Database,
  digests: Iterable<ErasureDigest>,
  command: RepeatingCommand = "restore",
): Promise<number> {
  let found = 0;
  for (const [organizationId, own] of groupBy(digests, (digest) => digest.organizationId)) {
    const scope = database.scope(organizationId);
    const known = await scope.shared("organizations").where({ id: organizationId });
    if (known.length > 0) found += await eraseIn(scope, own, command);
  }
  return found;
}

async function eraseIn(
  scope: Scope,
  digests: readonly ErasureDigest[],
  command: RepeatingCommand,
): Promise<number> {
  const people = new Map<string, Person & { readonly until: string }>();
  // Backups of different installations have different digest keys.
  for (const sealedKey of new Set(digests.map((one) => one.sealedKey))) {
    const sameKey = digests.filter((one) => one.sealedKey === sealedKey);
    // Sorted so that the latest erasure of a person wins.
    const wanted = new Map(sameKey.map(({ digest, until }) => [digest, until] as const).sort(byTime));
    const digest = digesting(scope, sealedKey);
    for await (const value of identifiers(scope))
      for (const kind of IDENTIFIER_KINDS) {
        const until = wanted.get(digest({ kind, value }));
        if (until !== undefined) people.set(`${kind}:${value}`, { kind, value, until });
      }
  }
  for (const { until, ...person } of people.values()) {
    const operation = commandOf(command, "EndUser", [{ name: person.kind }]);
    operation.about(digestOf(scope, person.value));
    await scope.audited(operation).of(Erasures).ofPerson(person, until);
  }
  return people.size;
}

const byTime = ([, one]: readonly [string, string], [, other]: readonly [string, string]): number =>
  Date.parse(one) - Date.parse(other);

/** All identifiers stored here, possibly repeated. */
async function* identifiers(scope: Scope): AsyncIterable<string> {
  const chats = walk((last) =>
    scope
      .table("chats")
      .select("id", "uniqueId", "userId", "anonymousId", "visitorId", "phoneNumber")
      .where("id", ">", last)
      .orderBy("id")
      .limit(BATCH_SIZE),
  );
  for await (const { id: _, ...identifiers } of chats)
    yield* Object.values(identifiers).filter((value) => value !== null);
  const people = walk((last) =>
    scope.table("end_users").select("id", "uniqueId").where("id", ">", last).orderBy("id").limit(BATCH_SIZE),
  );
  for await (const { uniqueId } of people) yield uniqueId;
  const files = walk((last) =>
    scope.table("files").select("id", "metadata").where("id", ">", last).orderBy("id").limit(BATCH_SIZE),
  );
  for await (const { metadata } of files)
    yield* IDENTIFIER_KINDS.map((kind) => metadata[kind]).filter((value) => typeof value === "string");
  const contacts = await scope.table("sms_contacts").select("phoneNumber");
  yield* contacts.map(({ phoneNumber }) => phoneNumber);
}

/** All rows of a table, page by page. */
async function* walk<R extends { readonly id: string }>(
  page: (last: string) => PromiseLike<R[]>,
): AsyncIterable<R> {
  for (let last = ""; ;) {
    const rows = await page(last);
    yield* rows;
    if (rows.length < BATCH_SIZE) return;
    last = rows.at(-1)!.id;
  }
}
