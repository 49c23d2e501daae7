import { setTimeout as pause } from "node:timers/promises";
import type { Scope } from "../../platform/database/scope";
import { CLAIM_LIFETIME_MS, openAnswer } from "./idempotency";

/** Answers read by one statement. */
const BATCH_SIZE = 500;
/** Shorter texts occur in keys by chance, unless they are a whole part of it, such as the user of a token. */
const MIN_TEXT_LENGTH = 4;
/** Pause between looks at requests that still run, in ms. */
const PAUSE_MS = 500;

const containsAny = (body: string, texts: readonly string[]) => texts.some((text) => body.includes(text));

/**
 * Deletes the answers to requests with an Idempotency-Key that contain one of these texts in body or key. Waits for
 * requests that have claimed their key, whose answers may contain them.
 */
export async function forgetAnswers(scope: Scope, texts: readonly string[]): Promise<void> {
  await runningRequests(scope);
  const quoted = texts.map((text) => JSON.stringify(text));
  const inKey = [...quoted, ...texts.filter((text) => text.length >= MIN_TEXT_LENGTH)];
  for (let last = ""; ;) {
    const rows = await scope
      .table("idempotency_keys")
      .where("key", ">", last)
      .orderBy("key")
      .limit(BATCH_SIZE);
    const matching = rows.filter(
      (row) => containsAny(row.key, inKey) || containsAny(openAnswer(scope, row), quoted),
    );
    const keys = matching.map(({ key }) => key);
    await scope.table("idempotency_keys").whereIn("key", keys).delete();
    if (rows.length < BATCH_SIZE) return;
    last = rows.at(-1)!.key;
  }
}

/** Resolves when the requests that run now have stored their answers, at the latest after the lifetime of a claim. */
async function runningRequests(scope: Scope): Promise<void> {
  const until = performance.now() + CLAIM_LIFETIME_MS;
  const claimed = () =>
    scope.table("idempotency_claims").select("claim").where("claimedAt", ">=", scope.now(-CLAIM_LIFETIME_MS));
  const claims = (await claimed()).map(({ claim }) => claim);
  const areLeft = async () => (await claimed().whereIn("claim", claims).limit(1)).length > 0;
  while (claims.length > 0 && performance.now() < until && (await areLeft())) await pause(PAUSE_MS);
}
