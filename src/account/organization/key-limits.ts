import type { Caller } from "../auth/caller";
import type { LimitColumns } from "../auth/limits";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { DomainError, failAt, invalid, missing } from "../../platform/errors";
import type { KeyInput } from "./keys";

/** The limits of a new key, as stored. */
type NewLimits = Partial<LimitColumns> & { readonly expiresAt?: Date };

const tooWide = (what: string) =>
  new DomainError("FORBIDDEN", `A key cannot create a key with wider limits than its own: ${what}.`);

/**
 * The limits of a new key: those in the input, else those of the key that creates it.
 * @param caller undefined for the operator on the command line, who alone can grant `import`
 * @throws BAD_USER_INPUT, ASSISTANT_NOT_FOUND; FORBIDDEN for limits wider than the caller's
 */
export async function limitsFor(
  scope: Scope,
  { expiresAt, permissions, assistantIds }: KeyInput,
  caller: Caller | undefined,
): Promise<NewLimits> {
  if (caller) refuseImport(permissions);
  const own = caller?.limits;
  const extra = permissions?.find((one) => own?.permissions && !own.permissions.includes(one));
  if (extra !== undefined) throw tooWide(`it lacks the permission "${extra}"`);
  await checkAssistants(scope, assistantIds);
  const expiry = expiresAt ?? caller?.expiresAt;
  if (expiresAt) await checkEnd(scope, expiresAt, caller?.expiresAt);
  const allowed = permissions ?? own?.permissions;
  const assistants = assistantIds ?? own?.assistantIds;
  return {
    ...(expiry && { expiresAt: expiry }),
    ...(allowed && { permissions: [...new Set(allowed)] }),
    ...(assistants && { assistantIds: [...new Set(assistants)] }),
  };
}

/** Visible characters of ASCII: others cannot be sent in a header, or get lost in it. */
const HEADER_VALUE = /^[!-~]+$/;

/**
 * The limits of a key of another service. It may have expired already.
 * @throws BAD_USER_INPUT, ASSISTANT_NOT_FOUND
 */
export async function importedLimits(
  scope: Scope,
  value: string,
  { expiresAt, permissions, assistantIds }: KeyInput,
): Promise<NewLimits> {
  refuseImport(permissions);
  if (!HEADER_VALUE.test(value))
    throw invalid([{ path: "value", message: "must consist of visible ASCII characters, without spaces" }]);
  await checkAssistants(scope, assistantIds);
  return {
    ...(expiresAt && { expiresAt }),
    ...(permissions && { permissions: [...new Set(permissions)] }),
    ...(assistantIds && { assistantIds: [...new Set(assistantIds)] }),
  };
}

function refuseImport(permissions: KeyInput["permissions"]): void {
  if (permissions?.includes("import"))
    throw invalid([
      {
        path: "permissions",
        message:
          'must not contain "import", which only the command line grants: `npm run --silent key:create -- --import`',
      },
    ]);
}

const ASSISTANT_BY_ID = statement(({ table, $ }) =>
  table("assistants")
    .select("id")
    .where({ id: $(1) })
    .whereNull("deletedAt"),
);

const HAS_PASSED = statement<{ past: boolean }>(({ db, $ }) =>
  db.raw("select now() >= ?::timestamptz as past where $1::text is not null", [$(1)]),
);

async function checkAssistants(scope: Scope, ids: KeyInput["assistantIds"]): Promise<void> {
  for (const [index, id] of (ids ?? []).entries())
    await checkAssistant(scope, id).catch((error) => failAt(`assistantIds.${index}`, error));
}

/** Rejects templates too: all organizations share them, so a key cannot be limited to one. */
async function checkAssistant(scope: Scope, id: string): Promise<void> {
  const found = await scope.read(ASSISTANT_BY_ID, [id]);
  if (found.length === 0) missing("Assistant", id);
}

async function checkEnd(scope: Scope, expiresAt: Date, latest: Date | undefined): Promise<void> {
  const [now] = await scope.read(HAS_PASSED, [expiresAt]);
  if (now!.past) throw invalid([{ path: "expiresAt", message: "must be in the future" }]);
  if (latest && expiresAt > latest) throw tooWide(`it expires at ${latest.toISOString()}`);
}
