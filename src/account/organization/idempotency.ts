import { hash } from "node:crypto";
import { Disclosures, type Disclosure } from "../audit/disclosures";
import type { Origin } from "../audit/note";
import type { Caller } from "../auth/caller";
import { newId } from "../../platform/database/values/ids";
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

interface StoredBody {
  readonly key: string;
  readonly sealedBody: string;
}

/** The sender of the request, for the audit log, and its server. */
interface Requester {
  readonly caller: Caller | undefined;
  readonly source: Origin;
  /** Whether the server shuts down and so may end before the work does. */
  readonly isDraining: () => boolean;
}

/** @param claim for work that waits: an id that all attempts with this key share, even after a crash */
type Work = (scope: Scope, claim?: string) => Promise<Answer>;
type IdempotentAnswer = Answer & { readonly replayed: boolean };

const ANSWER_LIFETIME_MS = 86_400_000;

/** A claim blocks its key for this long after `claimedAt`, which is longer than any REST operation may take. */
export const CLAIM_LIFETIME_MS = 90_000;
/**
 * While its work runs, a claim is renewed and blocks its key for this long: shorter, so that a crash frees the key soon,
 * but longer than a server that shuts down waits for its requests. Claims of servers of older versions are never
 * renewed, so `claimedAt` is set to an earlier time instead of shortening the lifetime of all claims.
 */
const LEASE_MS = 15_000;
const RENEWAL_INTERVAL_MS = 4_000;

/**
 * Stores answers to requests with an Idempotency-Key for a day. A repeated request gets the stored answer with its
 * warnings.
 */
export class Idempotency {
  constructor(private readonly scope: Scope) {}

  /**
   * Runs `work` once per key. Its changes and its answer are committed in one transaction. Work that waits for HTTP
   * instead claims the key before and stores its answer after, each in its own transaction. If its server crashes
   * meanwhile, the next attempt takes over the claim. Secrets in a replayed answer are recorded as disclosed again.
   * @throws REQUEST_IN_PROGRESS while the first request runs; IDEMPOTENCY_KEY_REUSED for another request with the key
   */
  async once(
    request: IdempotentRequest,
    work: Work,
    { caller, source, isDraining }: Requester,
  ): Promise<IdempotentAnswer> {
    const answer = await this.answerTo(request, work, isDraining);
    const secrets = answer.replayed ? answer.disclosed : [];
    await Promise.all(secrets.map((secret) => this.scope.of(Disclosures).record(caller, source, secret)));
    return answer;
  }

  private async answerTo(
    { key, content, waits }: IdempotentRequest,
    work: Work,
    isDraining: () => boolean,
  ): Promise<IdempotentAnswer> {
    const digest = hash("sha256", JSON.stringify(content), "base64url");
    if (waits) return this.runClaimed(key, digest, work, isDraining);
    return this.scope.transaction(async (scope) => {
      const { stored } = await this.find(scope, key, digest);
      return stored ?? this.store(scope, key, digest, await work(scope));
    });
  }

  private async runClaimed(
    key: string,
    requestHash: string,
    work: Work,
    isDraining: () => boolean,
  ): Promise<IdempotentAnswer> {
    const { scope } = this;
    const { stored, claim } = await scope.transaction(async (scope) => {
      const { stored, abandoned } = await this.find(scope, key, requestHash);
      const claim = abandoned ?? newId();
      if (stored) return { stored, claim };
      if (!abandoned) await scope.insert("idempotency_claims", { key, claim, requestHash });
      await this.renew(scope, key, claim);
      return { claim };
    });
    if (stored) return stored;
    const answer = await this.whileClaimed(key, claim, isDraining, () => work(scope, claim));
    return scope.transaction(async (scope) => {
      const isOurs = await this.release(scope, key, claim);
      return isOurs ? this.store(scope, key, requestHash, answer) : { ...answer, replayed: false };
    });
  }

  /** Runs work while renewing its claim, and releases the claim if the work fails. */
  private async whileClaimed(
    key: string,
    claim: string,
    isDraining: () => boolean,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const { scope } = this;
    const start = performance.now();
    const renewal = setInterval(() => {
      // A server that ends during the work leaves a claim that expires soon.
      if (!isDraining()) void this.renew(scope, key, claim).catch(() => undefined); // the next one may succeed
    }, RENEWAL_INTERVAL_MS);
    try {
      return await work();
    } catch (error) {
      // After a timeout the work may still run, so the key stays claimed for as long as it may take.
      if (error instanceof DomainError && error.code === "TIMEOUT")
        await this.setAge(scope, key, claim, performance.now() - start);
      else if (error instanceof DomainError) await this.release(scope, key, claim);
      // After any other failure, such as of the database, the next attempt needs the claim to find what was stored.
      else await this.setAge(scope, key, claim, CLAIM_LIFETIME_MS).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  /**
   * The stored answer for a key, or the claim of an attempt that has crashed. Locks the key until the transaction ends.
   * @throws REQUEST_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED
   */
  private async find(
    scope: Scope,
    key: string,
    requestHash: string,
  ): Promise<{ readonly stored?: IdempotentAnswer; readonly abandoned?: string }> {
    if (!(await scope.tryLock(`idempotency:${key}`))) throw inProgress();
    await scope.table("idempotency_keys").where("createdAt", "<", scope.now(-ANSWER_LIFETIME_MS)).delete();
    await scope.table("idempotency_claims").where("claimedAt", "<", scope.now(-ANSWER_LIFETIME_MS)).delete();
    const [stored] = await scope.table("idempotency_keys").where({ key });
    const [claim] = await scope.table("idempotency_claims").where({ key });
    if ((stored ?? claim ?? { requestHash }).requestHash !== requestHash)
      throw new DomainError(
        "IDEMPOTENCY_KEY_REUSED",
        "This Idempotency-Key was used for another request. Use a new key for each request.",
      );
    if (stored) {
      const { status, disclosed, warnings } = stored;
      for (const warning of warnings ?? []) scope.warn(warning);
      const body = JSON.parse(openAnswer(scope, stored)) as unknown;
      return { stored: { status, body, disclosed: disclosed ?? [], replayed: true } };
    }
    if (!claim) return {};
    const expired = scope.table("idempotency_claims").where("claimedAt", "<", scope.now(-CLAIM_LIFETIME_MS));
    if ((await expired.where({ key })).length === 0) throw inProgress();
    return { abandoned: claim.claim };
  }

  private renew(scope: Scope, key: string, claim: string): Promise<void> {
    return this.setAge(scope, key, claim, CLAIM_LIFETIME_MS - LEASE_MS);
  }

  private async setAge(scope: Scope, key: string, claim: string, ageMs: number): Promise<void> {
    await scope
      .table("idempotency_claims")
      .where({ key, claim })
      .update({ claimedAt: scope.now(-ageMs) });
  }

  /** Deletes a claim. @returns false if another attempt has deleted it */
  private async release(scope: Scope, key: string, claim: string): Promise<boolean> {
    return (await scope.table("idempotency_claims").where({ key, claim }).delete()) > 0;
  }

  /** Stores an answer, encrypted because it may contain secrets. */
  private async store(
    scope: Scope,
    key: string,
    requestHash: string,
    answer: Answer,
  ): Promise<IdempotentAnswer> {
    const sealedBody = scope.ports.crypto.seal(JSON.stringify(answer.body), contextOf(scope, key));
    const { status, disclosed } = answer;
    const { warnings: given } = scope.notes;
    const warnings = given.length > 0 ? given : null;
    await scope.insert("idempotency_keys", { key, requestHash, status, sealedBody, disclosed, warnings });
    return { ...answer, replayed: false };
  }
}

/** Decrypts the body of a stored answer. */
export const openAnswer = (scope: Scope, { key, sealedBody }: StoredBody): string =>
  scope.ports.crypto.open(sealedBody, contextOf(scope, key));

const contextOf = ({ organizationId }: Scope, key: string) => `${organizationId}/idempotency_keys/${key}`;

const inProgress = () =>
  new DomainError(
    "REQUEST_IN_PROGRESS",
    "A request with this Idempotency-Key is still running. Repeat it after a few seconds.",
  );
