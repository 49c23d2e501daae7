import type { Caller } from "../auth/caller";
import type { LimitColumns } from "../auth/limits";
import type { Scope } from "../../platform/database/scope";
import { DomainError, invalid, missing } from "../../platform/errors";
import type { KeyInput } from "./keys";

/** The limits of a new key, as they are stored. */
type NewLimits = Partial<LimitColumns> & { readonly expiresAt?: Date };

const wider = (what: string) =>
  new DomainError("FORBIDDEN", `A key makes no key that is wider than itself: ${what}.`);

/**
 * The limits of a new key: those asked for, or else those of the key that makes it.
 * @param caller undefined for the operator on the command line, who alone gives `import`
 * @throws BAD_USER_INPUT, ASSISTANT_NOT_FOUND; FORBIDDEN for limits wider than the caller's
 */
export async function limitsFor(
  scope: Scope,
  { expiresAt, permissions, assistantIds }: KeyInput,
  caller: Caller | undefined,
): Promise<NewLimits> {
  if (caller && permissions?.includes("import"))
    throw invalid([{ path: "permissions", message: "import is given by the command line only" }]);
  const own = caller?.limits;
  const extra = permissions?.find((one) => own?.permissions && !own.permissions.includes(one));
  if (extra !== undefined) throw wider(`it lacks the permission ${extra} itself`);
  for (const id of assistantIds ?? []) await checkAssistant(scope, id);
  const ends = expiresAt ?? caller?.expiresAt;
  if (expiresAt) await checkEnd(scope, expiresAt, caller?.expiresAt);
  const allowed = permissions ?? own?.permissions;
  const reached = assistantIds ?? own?.assistantIds;
  return {
    ...(ends && { expiresAt: ends }),
    ...(allowed && { permissions: [...new Set(allowed)] }),
    ...(reached && { assistantIds: [...new Set(reached)] }),
  };
}

/** A template belongs to everybody: a key cannot be limited to it. */
async function checkAssistant(scope: Scope, id: string): Promise<void> {
  const found = await scope.named(
    "assistants.own",
    (table, $) =>
      table("assistants")
        .select("id")
        .where({ id: $(1) })
        .whereNull("deletedAt"),
    [id],
  );
  if (found.length === 0) missing("Assistant");
}

async function checkEnd(scope: Scope, expiresAt: Date, latest: Date | undefined): Promise<void> {
  const [now] = await scope.named<{ past: boolean }>(
    undefined,
    (_table, $, db) => db.raw("select now() >= ?::timestamptz as past where $1::text is not null", [$(1)]),
    [expiresAt],
  );
  if (now!.past) throw invalid([{ path: "expiresAt", message: "must be in the future" }]);
  if (latest && expiresAt > latest) throw wider(`it ends at ${latest.toISOString()} itself`);
}
