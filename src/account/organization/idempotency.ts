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
  /** Secrets in it. */
  readonly disclosed: readonly Disclosure[];
}

/** A request under its key. */
export interface IdempotentRequest {
  readonly key: string;
  /** Everything that makes it the same request. */
  readonly content: unknown;
  /** Its work waits for HTTP, so it runs outside of any transaction. */
  readonly waits: boolean;
}

/** Who asks, for the audit log. */
interface Requester {
  readonly caller: Caller | undefined;
  readonly source: Origin;
}

type Work = (scope: Scope) => Promise<Answer>;
type IdempotentAnswer = Answer & { readonly replayed: boolean };

const ANSWER_LIFETIME_MS = 86_400_000;

/** How long work that waits keeps its key if its process dies: longer than any operation of REST may take. */
const CLAIM_LIFETIME_MS = 60_000;

/** Answers that are opened at once, and how long a text is that is no part of a key by chance. */
const FORGET_BATCH_SIZE = 500;
const MIN_TEXT_LENGTH = 4;
const holdsAny = (body: string, texts: readonly string[]) => texts.some((text) => body.includes(text));

/** Answers to requests that carried an Idempotency-Key: repeated within a day, they are answered again and not done again. */
export class Idempotency {
  constructor(private readonly scope: Scope) {}

  /**
   * Does `work` once for a key. Its effect and its answer are committed together, or neither is. Work that waits for
   * HTTP claims the key first and stores its answer afterwards, each in a transaction of its own. The secrets in an
   * answer that is repeated are recorded as disclosed again.
   * @throws REQUEST_IN_PROGRESS while the first one runs; IDEMPOTENCY_KEY_REUSED for another request under the same key
   */
  async once(
    request: IdempotentRequest,
    work: Work,
    { caller, source }: Requester,
  ): Promise<IdempotentAnswer> {
    const given = await this.given(request, work);
    const again = given.replayed ? given.disclosed : [];
    await Promise.all(again.map((secret) => this.scope.of(Disclosures).record(caller, source, secret)));
    return given;
  }

  private async given({ key, content, waits }: IdempotentRequest, work: Work): Promise<IdempotentAnswer> {
    const hash = createHash("sha256").update(JSON.stringify(content)).digest("base64url");
    if (waits) return this.runClaimed(key, hash, work);
    return this.scope.transaction(async (scope) => {
      const kept = await this.kept(scope, key, hash);
      return kept ?? this.keep(scope, key, hash, await work(scope));
    });
  }

  private async runClaimed(key: string, requestHash: string, work: Work): Promise<IdempotentAnswer> {
    const { scope } = this;
    const claim = newId();
    const kept = await scope.transaction(async (scope) => {
      const kept = await this.kept(scope, key, requestHash);
      if (!kept) await scope.insert("idempotency_claims", { key, claim, requestHash });
      return kept;
    });
    if (kept) return kept;
    const answer = await work(scope).catch(async (error: unknown) => {
      // After a timeout the work may go on, so its key stays claimed until the claim expires.
      if (!(error instanceof DomainError && error.code === "TIMEOUT")) await this.release(scope, key, claim);
      throw error;
    });
    return scope.transaction(async (scope) => {
      const isOurs = await this.release(scope, key, claim);
      return isOurs ? this.keep(scope, key, requestHash, answer) : { ...answer, replayed: false };
    });
  }

  /**
   * The answer that is kept for the key, which nobody else can use until the transaction ends.
   * @throws REQUEST_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED
   */
  private async kept(scope: Scope, key: string, requestHash: string): Promise<IdempotentAnswer | undefined> {
    if (!(await scope.tryLock(`idempotency:${key}`))) throw inProgress();
    await scope.table("idempotency_keys").where("createdAt", "<", scope.now(-ANSWER_LIFETIME_MS)).delete();
    await scope.table("idempotency_claims").where("claimedAt", "<", scope.now(-CLAIM_LIFETIME_MS)).delete();
    const [kept] = await scope.table("idempotency_keys").where({ key });
    const [claim] = await scope.table("idempotency_claims").where({ key });
    if ((kept ?? claim ?? { requestHash }).requestHash !== requestHash)
      throw new DomainError("IDEMPOTENCY_KEY_REUSED", "This Idempotency-Key was used for another request.");
    if (kept) {
      const { status, sealedBody, disclosed } = kept;
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

  /** @returns whether the claim still stood */
  private async release(scope: Scope, key: string, claim: string): Promise<boolean> {
    return (await scope.table("idempotency_claims").where({ key, claim }).delete()) > 0;
  }

  /** Drops the answers that hold one of these texts, or whose key does. */
  async forget(texts: readonly string[]): Promise<void> {
    const whole = texts.map((text) => JSON.stringify(text));
    const inKey = texts.filter((text) => text.length >= MIN_TEXT_LENGTH);
    for (let last = ""; ;) {
      const rows = await this.scope
        .table("idempotency_keys")
        .where("key", ">", last)
        .orderBy("key")
        .limit(FORGET_BATCH_SIZE);
      const told = rows.filter(
        ({ key, sealedBody }) =>
          inKey.some((text) => key.includes(text)) || holdsAny(this.open(key, sealedBody), whole),
      );
      const keys = told.map(({ key }) => key);
      await this.scope.table("idempotency_keys").whereIn("key", keys).delete();
      if (rows.length < FORGET_BATCH_SIZE) return;
      last = rows.at(-1)!.key;
    }
  }

  /** Sealed, for the answer may hold a key or a secret. */
  private async keep(
    scope: Scope,
    key: string,
    requestHash: string,
    answer: Answer,
  ): Promise<IdempotentAnswer> {
    const sealedBody = scope.ports.crypto.seal(JSON.stringify(answer.body), this.context(key));
    const { status, disclosed } = answer;
    await scope.insert("idempotency_keys", { key, requestHash, status, sealedBody, disclosed });
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
  new DomainError("REQUEST_IN_PROGRESS", "A request with this Idempotency-Key is still running.");
