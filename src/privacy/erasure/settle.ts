import { jobOf } from "../../account/audit/note";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { Counts } from "./remove-chats";

/** Counts of items that a provider refused to delete or did not answer about. */
export interface NotErased {
  readonly textsKept?: number;
  readonly callsKept?: number;
}

/** Completes an erasure if nothing is left to erase, here or at providers. */
export async function settle(scope: Scope, erasureId: string): Promise<void> {
  await scope.transaction(async (scope) => {
    const [counts] = await scope.write(FINISH, [erasureId]);
    if (!counts) return;
    const operation = jobOf("erasure.run", "ForgetReceipt", erasureId);
    operation.count({ ...counts });
    await scope.audited(operation).storeAudit();
  });
}

/** Adds items that a provider has not deleted to a receipt. */
export const noteKept = async (
  scope: Scope,
  erasureId: string,
  { textsKept = 0, callsKept = 0 }: NotErased,
): Promise<void> => {
  await scope.write(ADD_KEPT, [erasureId, textsKept, callsKept]);
};

export const COUNTED = [
  "chats",
  "messages",
  "events",
  "recordings",
  "texts",
  "facts",
  "contexts",
  "files",
  "exports",
] as const;

const FINISH = statement<Counts>(({ db }) =>
  db.raw(`
  update erasures set status = 'DONE', worked_at = now(), finished_at = now()
  where erasures.organization_id = $1 and id = $2 and status <> 'DONE' and sealed_target is null
    and not exists (select from provider_erasures p where p.organization_id = $1 and p.erasure_id = $2)
  returning ${COUNTED.join(", ")}`),
);

const ADD_KEPT = statement(({ db }) =>
  db.raw(`
  update erasures set worked_at = now(), texts_kept = texts_kept + $3, calls_kept = calls_kept + $4
  where erasures.organization_id = $1 and id = $2`),
);
