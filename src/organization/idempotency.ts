import { createHash } from "node:crypto";
import { currentDate } from "../clock";
import type { Scope } from "../database/scope";
import { DomainError } from "../errors";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Kept {
  readonly requestHash: string;
  readonly status: number;
  readonly sealedBody: string;
}

/** How long an answer is kept for its key, in milliseconds. */
const KEPT = 86_400_000;

/** Answers to requests that carried an Idempotency-Key: repeated within a day, they are answered again and not done again. */
export class Idempotency {
  constructor(private readonly scope: Scope) {}

  /**
   * Does `work` once for `key`: its effect and its answer are committed together, or neither is.
   * @param request everything that makes it the same request
   * @throws REQUEST_IN_PROGRESS while the first one runs; IDEMPOTENCY_KEY_REUSED for another request under the same key
   */
  async once(
    key: string,
    request: unknown,
    work: (scope: Scope) => Promise<Answer>,
  ): Promise<Answer & { replayed: boolean }> {
    const requestHash = createHash("sha256").update(JSON.stringify(request)).digest("base64url");
    return this.scope.transaction(async (scope) => {
      if (!(await scope.tryLock(`idempotency:${key}`)))
        throw new DomainError("REQUEST_IN_PROGRESS", "A request with this Idempotency-Key is still running.");
      const kept = await this.kept(scope, key);
      if (!kept) return { ...(await this.keep(scope, key, requestHash, await work(scope))), replayed: false };
      if (kept.requestHash !== requestHash)
        throw new DomainError("IDEMPOTENCY_KEY_REUSED", "This Idempotency-Key was used for another request.");
      const body: unknown = JSON.parse(this.open(key, kept.sealedBody));
      return { status: kept.status, body, replayed: true };
    });
  }

  private async kept(scope: Scope, key: string): Promise<Kept | undefined> {
    const old = currentDate(-KEPT);
    await scope.table("idempotency_keys").where("createdAt", "<", old).delete();
    const [row] = (await scope.table("idempotency_keys").where({ key })) as Kept[];
    return row;
  }

  /** Sealed, for the answer may hold a key or a secret. */
  private async keep(scope: Scope, key: string, requestHash: string, answer: Answer): Promise<Answer> {
    const sealedBody = scope.ports.crypto.seal(JSON.stringify(answer.body), this.context(key));
    await scope.insert("idempotency_keys", { key, requestHash, status: answer.status, sealedBody });
    return answer;
  }

  private open(key: string, sealedBody: string): string {
    return this.scope.ports.crypto.open(sealedBody, this.context(key));
  }

  private context(key: string): string {
    return `${this.scope.organizationId}/idempotency_keys/${key}`;
  }
}
