import {
  connectionByAge,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { newId } from "../../platform/database/values/ids";
import { rowById } from "../../platform/database/lists/row-by-id";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { Assistants } from "../../assistants/assistants/assistants";
import { DomainError, invalid, missing } from "../../platform/errors";
import { AllLogs, type LogFilter } from "../../chats/logs/all-logs";
import { LogWalk, type LogPlace } from "../../chats/logs/log-walk";
import { DigestKey } from "../people/digests";
import { erasePerson } from "./erase-person";
import { chatsOf, type IdentifierKind, type Person } from "../people/person";
import { removeChats, type Count, type Counts, type RemoveOptions } from "./remove-chats";
import { COUNTED, settle } from "./settle";

/** Time for counting the logs to delete, in ms; if it takes longer, they are counted as they are deleted. */
const COUNT_MS = 2_000;

export type ErasureStatus = "PENDING" | "RUNNING" | "DONE";
export type ErasureSubject = (typeof SUBJECTS)[IdentifierKind] | "LOGS";

/** The receipt of an erasure; it does not identify the person. */
export interface Erasure extends Counts {
  readonly id: string;
  readonly subject: ErasureSubject;
  readonly status: ErasureStatus;
  /** Number of chats when the erasure was requested; at least that of the erased ones. */
  readonly matched: number;
  /** Texts and calls that providers did not delete. */
  readonly textsKept: number;
  readonly callsKept: number;
  readonly requestedAt: Date;
  readonly finishedAt: Date | null;
}

interface ErasureRow extends Erasure {
  /** The person or filter, encrypted; null once nothing of it is stored here anymore. */
  readonly sealedTarget: string | null;
  /** Chats that started later are not erased. */
  readonly until: string;
}

/** Logs to delete, and the place up to which they are. */
interface LogsTarget {
  readonly filter: LogFilter;
  readonly after?: LogPlace;
}

export const SUBJECTS = {
  uniqueId: "UNIQUE_ID",
  userId: "USER_ID",
  anonymousId: "ANONYMOUS_ID",
  phoneNumber: "PHONE_NUMBER",
} as const satisfies Record<IdentifierKind, string>;

/** Erasures of an organization, and their receipts. */
export class Erasures {
  constructor(private readonly scope: Scope) {}

  /**
   * Requests the erasure of everything stored about a person.
   * @param until erases data up to this moment instead of now; for erasures repeated after a restore
   */
  async ofPerson(person: Person, until?: string): Promise<Erasure> {
    return this.scope.transaction(async (scope) => {
      const digest = await scope.of(DigestKey).digest(person);
      const [found] = await chatsOf(scope, person, until).count<{ count: string }[]>("*");
      return scope
        .of(Erasures)
        .request({ subject: SUBJECTS[person.kind], digest, matched: Number(found!.count), until }, person);
    });
  }

  /**
   * Requests the deletion of the ended logs that currently match a filter.
   * @throws BAD_USER_INPUT for a filter without a condition; ASSISTANT_NOT_FOUND
   */
  async ofLogs(filter: LogFilter): Promise<Erasure> {
    if (Object.values(filter).every((value) => value == null || value === ""))
      throw invalid([{ path: "filter", message: "set at least one condition; got none" }]);
    // A server of an older version may run the job: it would ignore the condition and delete more.
    if (filter.assistantVersion != null)
      throw invalid([{ path: "filter.assistantVersion", message: "must not be a condition of deleteLogs" }]);
    const { scope } = this;
    if (filter.assistantId != null) await scope.of(Assistants).byIdIncludingDeleted(filter.assistantId);
    const matched = (await scope.of(AllLogs).countEnded(filter, COUNT_MS)) ?? 0;
    return scope.transaction((scope) =>
      scope.of(Erasures).request({ subject: "LOGS", matched }, { filter } satisfies LogsTarget),
    );
  }

  /** Deletes one log at once. @throws LOG_NOT_FOUND; CHAT_LIVE if the conversation is live */
  async removeLog(assistantId: string, id: string): Promise<{ id: string }> {
    const [row] = await this.scope.table("chats").select("status").where({ id, assistantId });
    if (!row) return missing("Log", id);
    if (row.status !== "ended")
      throw new DomainError("CHAT_LIVE", "This conversation is live: end it before you delete its log.");
    await removeChats(this.scope, [id]);
    return { id };
  }

  /** Lists erasures, by their request. */
  list(query: ConnectionQuery): Promise<Connection<Erasure>> {
    return connectionByAge(
      { rows: this.scope.table("erasures"), createdAt: "requestedAt", map: (row) => row },
      query,
    );
  }

  /** @throws ERASURE_NOT_FOUND */
  async byId(id: string): Promise<Erasure> {
    return (await rowById(this.scope, "erasures", id)) ?? missing("Erasure", id);
  }

  /** Runs an erasure, or continues an interrupted one. */
  async run(id: string): Promise<void> {
    const { scope } = this;
    const [row] = await scope.write(BEGIN, [id]);
    if (!row) return;
    if (row.sealedTarget !== null) {
      await this.erase(id, { ...row, sealedTarget: row.sealedTarget });
      await scope.table("erasures").where({ id }).update({ sealedTarget: null });
    }
    await settle(scope, id); // has no effect while providers still delete
  }

  private async erase(
    erasureId: string,
    { sealedTarget, until }: { readonly sealedTarget: string; readonly until: string },
  ): Promise<void> {
    const { scope } = this;
    const count: Count = (scope, counts) => scope.of(Erasures).add(erasureId, counts);
    const target = JSON.parse(scope.ports.crypto.open(sealedTarget, contextOf(scope, erasureId))) as
      Person | LogsTarget;
    if ("filter" in target) await this.eraseLogs(target, until, { count, erasureId });
    else await erasePerson(scope, target, { until, count, erasureId });
  }

  /** Deletes logs part by part, and keeps the place, from which an interrupted job continues. */
  private async eraseLogs(
    { filter, after }: LogsTarget,
    until: string,
    options: RemoveOptions & { readonly erasureId: string },
  ): Promise<void> {
    const { scope } = this;
    const walk = new LogWalk(scope, filter, until);
    for (let place = after; ;) {
      const { ids, end } = await walk.next(place);
      await removeChats(scope, ids, options);
      if (!end) return;
      place = end;
      const target = sealed(scope, { filter, after: end } satisfies LogsTarget, options.erasureId);
      await scope.write(KEEP_TARGET, [options.erasureId, target]);
    }
  }

  /** Stores an erasure and enqueues its job. */
  private async request(
    values: Pick<ErasureRow, "subject" | "matched"> & { digest?: string; until?: string | undefined },
    target: object,
  ): Promise<Erasure> {
    const { scope } = this;
    const id = newId();
    const sealedTarget = sealed(scope, target, id);
    const [row] = await scope.insert("erasures", { id, sealedTarget, ...values });
    await enqueueErasure(scope, id);
    return row!;
  }

  private async add(id: string, counts: Partial<Counts>): Promise<void> {
    await this.scope.write(ADD_COUNTS, [id, ...COUNTED.map((kind) => counts[kind] ?? 0)]);
  }
}

const BEGIN = statement<Pick<ErasureRow, "sealedTarget" | "until">>(({ db }) =>
  db.raw(`
  with begun as (
    update erasures set status = 'RUNNING', worked_at = now()
    where erasures.organization_id = $1 and id = $2 and status <> 'DONE' returning sealed_target, until
  )
  select sealed_target, until::text as until from begun`),
);

const KEEP_TARGET = statement(({ db }) =>
  db.raw(
    `update erasures set worked_at = now(), sealed_target = $3 where erasures.organization_id = $1 and id = $2`,
  ),
);

const ADD_COUNTS = statement(({ db }) =>
  db.raw(`
  update erasures set worked_at = now(), matched = greatest(matched, chats + $${COUNTED.indexOf("chats") + 3}),
    ${COUNTED.map((kind, at) => `${kind} = ${kind} + $${at + 3}`).join(", ")}
  where erasures.organization_id = $1 and id = $2`),
);

/** Enqueues the job of an erasure; at most one waits per erasure. */
export const enqueueErasure = (scope: Scope, erasureId: string): Promise<void> =>
  scope.enqueue("erasure.run", { erasureId }, { key: `erasure.run:${erasureId}` });

const sealed = (scope: Scope, target: object, id: string): string =>
  scope.ports.crypto.seal(JSON.stringify(target), contextOf(scope, id));

const contextOf = ({ organizationId }: Scope, id: string) => `${organizationId}/erasures/${id}`;
