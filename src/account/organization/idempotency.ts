import { createHash } from "node:crypto";
import { Disclosures, type Disclosure } from "../audit/disclosures";
import type { Origin } from "../audit/note";
import type { Caller } from "../auth/caller";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Secrets in the body. */
  readonly disclosed: readonly Disclosure[];
}

/** A request with an Idempotency-Key. */
export interface IdempotentRequest {
  readonly key: string;
  /** Identifies the request: a repeated one must have the same content. */
  readonly content: unknown;
  /** Whether its work waits for HTTP and so must run outside of any transaction. */
  readonly waits: boolean;
}

/** The sender of the request, for the audit log. */
interface Requester {
  readonly caller: Caller | undefined;
  readonly source: Origin;
}

type Work = (scope: Scope) => Promise<Answer>;
type IdempotentAnswer = Answer & { readonly replayed: boolean };

const ANSWER_LIFETIME_MS = 86_400_000;

/** A claim of a crashed process blocks its key for this long, which is longer than any REST operation may take. */
const CLAIM_LIFETIME_MS = 90_000;

/** Answers read by one statement of `forget`. */
const FORGET_BATCH_SIZE = 500;
/** Shorter texts occur in keys by chance. */
const MIN_TEXT_LENGTH = 4;
const containsAny = (body: string, texts: readonly string[]) => texts.some((text) => body.includes(text));

/**
 * Stores answers to requests with an Idempotency-Key for a day. A repeated request gets the stored answer with its
 * warnings.
 */
export class Idempotency {
  constructor(private readonly scope: Scope) {}

  /**
   * Runs `work` once per key. Its changes and its answer are committed in one transaction. Work that waits for HTTP
   * instead claims the key before and stores its answer after, each in its own transaction. Secrets in a replayed
   * answer are recorded as disclosed again.
   * @throws REQUEST_IN_PROGRESS while the first request runs; IDEMPOTENCY_KEY_REUSED for another request with the key
   */
  async once(
    request: IdempotentRequest,
    work: Work,
    { caller, source }: Requester,
  ): Promise<IdempotentAnswer> {
    const answer = await this.answerTo(request, work);
    const secrets = answer.replayed ? answer.disclosed : [];
    await Promise.all(secrets.map((secret) => this.scope.of(Disclosures).record(caller, source, secret)));
    return answer;
  }

  private async answerTo({ key, content, waits }: IdempotentRequest, work: Work): Promise<IdempotentAnswer> {
    const hash = createHash("sha256").update(JSON.stringify(content)).digest("base64url");
    if (waits) return this.runClaimed(key, hash, work);
    return this.scope.transaction(async (scope) => {
      const stored = await this.stored(scope, key, hash);
      return stored ?? this.store(scope, key, hash, await work(scope));
    });
  }

  private async runClaimed(key: string, requestHash: string, work: Work): Promise<IdempotentAnswer> {
    const { scope } = this;
    const claim = newId();
    const stored = await scope.transaction(async (scope) => {
      const stored = await this.stored(scope, key, requestHash);
      if (!stored) await scope.insert("idempotency_claims", { key, claim, requestHash });
      return stored;
    });
    if (stored) return stored;
    const answer = await work(scope).catch(async (error: unknown) => {
      // After a timeout the work may still run, so the key stays claimed until the claim expires.
      if (!(error instanceof DomainError && error.code === "TIMEOUT")) await this.release(scope, key, claim);
      throw error;
    });
    return scope.transaction(async (scope) => {
      const isOurs = await this.release(scope, key, claim);
      return isOurs ? this.store(scope, key, requestHash, answer) : { ...answer, replayed: false };
    });
  }

  /**
   * The stored answer for a key. Locks the key until the transaction ends.
   * @throws REQUEST_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED
   */
  private async stored(
    scope: Scope,
    key: string,
    requestHash: string,
  ): Promise<IdempotentAnswer | undefined> {
    if (!(await scope.tryLock(`idempotency:${key}`))) throw inProgress();
    await scope.table("idempotency_keys").where("createdAt", "<", scope.now(-ANSWER_LIFETIME_MS)).delete();
    await scope.table("idempotency_claims").where("claimedAt", "<", scope.now(-CLAIM_LIFETIME_MS)).delete();
    const [stored] = await scope.table("idempotency_keys").where({ key });
    const [claim] = await scope.table("idempotency_claims").where({ key });
    if ((stored ?? claim ?? { requestHash }).requestHash !== requestHash)
      throw new DomainError(
        "IDEMPOTENCY_KEY_REUSED",
        "This Idempotency-Key was used for another request. Use a new key for each request.",
      );
    if (stored) {
      const { status, sealedBody, disclosed, warnings } = stored;
      for (const warning of warnings ?? []) scope.warn(warning);
      return {
        status,
        body: JSON.parse(this.open(key, sealedBody)),
        disclosed: disclosed ?? [],
        replayed: true,
      };
    }
    if (claim) throw inProgress();
    return undefined;
  }

  /** Deletes a claim. @returns false if it had expired */
  private async release(scope: Scope, key: string, claim: string): Promise<boolean> {
    return (await scope.table("idempotency_claims").where({ key, claim }).delete()) > 0;
  }

  /** Deletes the answers that contain one of these texts in body or key. */
  async forget(texts: readonly string[]): Promise<void> {
    const quoted = texts.map((text) => JSON.stringify(text));
    const inKey = texts.filter((text) => text.length >= MIN_TEXT_LENGTH);
    for (let last = ""; ;) {
      const rows = await this.scope
        .table("idempotency_keys")
        .where("key", ">", last)
        .orderBy("key")
        .limit(FORGET_BATCH_SIZE);
      const matching = rows.filter(
        ({ key, sealedBody }) =>
          inKey.some((text) => key.includes(text)) || containsAny(this.open(key, sealedBody), quoted),
      );
      const keys = matching.map(({ key }) => key);
      await this.scope.table("idempotency_keys").whereIn("key", keys).delete();
      if (rows.length < FORGET_BATCH_SIZE) return;
      last = rows.at(-1)!.key;
    }
  }

  /** Stores an answer, encrypted because it may contain secrets. */
  private async store(
    scope: Scope,
    key: string,
    requestHash: string,
    answer: Answer,
  ): Promise<IdempotentAnswer> {
    const sealedBody = scope.ports.crypto.seal(JSON.stringify(answer.body), this.context(key));
    const { status, disclosed } = answer;
    const { warnings: given } = scope.notes;
    const warnings = given.length > 0 ? given : null;
    await scope.insert("idempotency_keys", { key, requestHash, status, sealedBody, disclosed, warnings });
    return { ...answer, replayed: false };
  }

  private open(key: string, sealedBody: string): string {
    return this.scope.ports.crypto.open(sealedBody, this.context(key));
  }

  private context(key: string): string {
    return `${this.scope.organizationId}/idempotency_keys/${key}`;
  }
}

const inProgress = () =>
  new DomainError(
    "REQUEST_IN_PROGRESS",
    "A request with this Idempotency-Key is still running. Repeat it after a few seconds.",
  );
