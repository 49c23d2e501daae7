import { currentDate } from "../../platform/clock";
import {
  connectionByAge,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { newId } from "../../platform/database/values/ids";
import { rowById } from "../../platform/database/lists/row-by-id";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { DomainError, missing } from "../../platform/errors";
import { DigestKey } from "../people/digests";
import { SUBJECTS } from "../erasure/erasures";
import { reachOf, type IdentifierKind, type Person, type Reach } from "../people/person";
import { downloadLink, type DownloadLink } from "../../assistants/files/links";
import { Quotas } from "../../account/organization/quotas";
import { archiveOf } from "./archive";
import { Contents, type ExportCounts } from "./contents";
import { archiveKey, drop, lockExports, removeArchive } from "../people/withdraw";

export type ExportStatus = "PENDING" | "RUNNING" | "DONE" | "FAILED" | "EXPIRED" | "WITHDRAWN";

/** An export of the data about a person; it does not identify the person. */
export interface EndUserExport extends ExportCounts {
  readonly id: string;
  readonly subject: (typeof SUBJECTS)[IdentifierKind];
  readonly status: ExportStatus;
  readonly problem: string | null;
  /** Size of the archive in bytes. */
  readonly size: number;
  readonly requestedAt: Date;
  readonly finishedAt: Date | null;
  readonly expiresAt: Date | null;
}

interface ExportRow extends Omit<EndUserExport, "size"> {
  /** A bigint, which the driver returns as text. */
  readonly size: string | number;
  readonly sealedTarget: string | null;
  readonly attempt: number;
  readonly archiveId: string | null;
}

/** Retention of an archive, in hours. */
const RETENTION_HOURS = 24;
const WRITE_FAILED = "The archive could not be written. Request it again, or see the server's log.";

/** Exports of an organization: each is a job that writes one archive, which is available for a day. */
export class EndUserExports {
  constructor(private readonly scope: Scope) {}

  /** Enqueues an export of everything stored about a person when the job runs. */
  async request(person: Person): Promise<EndUserExport> {
    return this.scope.transaction(async (scope) => {
      const id = newId();
      const sealedTarget = scope.ports.crypto.seal(JSON.stringify(person), contextOf(scope, id));
      const digest = await scope.of(DigestKey).digest(person);
      const values = { id, subject: SUBJECTS[person.kind], digest, sealedTarget };
      const [row] = await scope.insert("end_user_exports", values);
      await scope.enqueue("export.run", { exportId: id });
      return toExport(row!);
    });
  }

  /** Lists exports, by their request. */
  async list(query: ConnectionQuery): Promise<Connection<EndUserExport>> {
    const rows = this.scope.table("end_user_exports");
    return connectionByAge({ rows, createdAt: "requestedAt", map: toExport }, query);
  }

  /** @throws EXPORT_NOT_FOUND */
  async byId(id: string): Promise<EndUserExport> {
    return toExport(await this.row(id));
  }

  /** A signed link to the archive; undefined if there is no archive. @throws EXPORT_NOT_FOUND */
  async download(id: string): Promise<DownloadLink | undefined> {
    const row = await this.archived(id);
    const path = `/exports/${this.scope.organizationId}/${id}`;
    return row && downloadLink(this.scope, path, row.expiresAt!);
  }

  /**
   * The archive's content, for requests with a valid link. @throws EXPORT_NOT_FOUND, also if the archive has been
   * removed
   */
  async content(id: string) {
    const { size, archiveId } = (await this.archived(id)) ?? missing("Export", id);
    const content = await this.scope.ports.storage.get(archiveKey(this.scope, archiveId!));
    return { file: { name: `export-${id}.zip`, mimeType: "application/zip", size: Number(size) }, content };
  }

  /** Writes the archive; each attempt starts from the beginning. */
  async run(id: string): Promise<void> {
    const { scope } = this;
    const started = await this.begin(id);
    if (!started) return;
    const { person, reach, attempt } = started;
    const contents = new Contents(scope, person, reach);
    const archiveId = newId();
    try {
      const quotas = scope.of(Quotas);
      const room = await quotas.roomForBytes();
      const archive = quotas.bounded(archiveOf(contents.entries()), room);
      const size = await scope.ports.storage.put(archiveKey(scope, archiveId), archive);
      if (await this.finish(id, attempt, { archiveId, size, ...contents.counts })) return;
    } catch (error) {
      await removeArchive(scope, archiveId);
      if (error instanceof DomainError && error.code === "QUOTA_EXCEEDED")
        return this.fail(id, error.message);
      throw error;
    }
    await removeArchive(scope, archiveId); // a person was erased meanwhile, or another server has written the archive
  }

  /** Marks an export as failed. */
  async fail(id: string, problem = WRITE_FAILED): Promise<void> {
    await this.scope
      .table("end_user_exports")
      .where({ id })
      .whereIn("status", ["PENDING", "RUNNING"])
      .update({ status: "FAILED", problem, sealedTarget: null, chatIds: [] });
  }

  /** Removes the archive of an expired export. */
  async expire(id: string): Promise<void> {
    await this.scope.transaction(async (scope) => {
      await drop(scope, scope.table("end_user_exports").where({ id, status: "DONE" }), "EXPIRED");
    });
  }

  /** Stores which chats will be read before reading them, so that an erasure finds the export. */
  private begin(id: string): Promise<{ person: Person; reach: Reach; attempt: number } | undefined> {
    return this.scope.transaction(async (scope) => {
      await lockExports(scope);
      const open = scope.table("end_user_exports").where({ id }).whereIn("status", ["PENDING", "RUNNING"]);
      const [row] = await open.forUpdate();
      if (!row) return undefined;
      const person = JSON.parse(scope.ports.crypto.open(row.sealedTarget!, contextOf(scope, id))) as Person;
      const reach = await reachOf(scope, person);
      const attempt = row.attempt + 1;
      await scope.write(BEGIN, [id, attempt, reach.chatIds]);
      return { person, reach, attempt };
    });
  }

  private finish(
    id: string,
    attempt: number,
    { archiveId, size, chats, messages, events, files, recordings, absent }: FinishedExport,
  ): Promise<boolean> {
    return this.scope.transaction(async (scope) => {
      await scope.of(Quotas).checkBytes(size);
      const counts = [chats, messages, events, files, recordings, absent];
      const values = [id, attempt, RETENTION_HOURS, archiveId, size, ...counts];
      return (await scope.write(FINISH, values)).length > 0;
    });
  }

  private async archived(id: string): Promise<ExportRow | undefined> {
    const row = await this.row(id);
    return toExport(row).status === "DONE" ? row : undefined;
  }

  private async row(id: string): Promise<ExportRow> {
    return (await rowById(this.scope, "end_user_exports", id)) ?? missing("Export", id);
  }
}

interface FinishedExport extends ExportCounts {
  readonly archiveId: string;
  readonly size: number;
}

function toExport(row: ExportRow): EndUserExport {
  const ended = row.status === "DONE" && row.expiresAt! <= currentDate();
  return { ...row, size: Number(row.size), ...(ended && { status: "EXPIRED" as const }) };
}

const BEGIN = statement(({ db }) =>
  db.raw(`
  update end_user_exports set status = 'RUNNING', attempt = $3, chat_ids = $4::text[]
  where end_user_exports.organization_id = $1 and id = $2`),
);

const FINISH = statement<{ id: string }>(({ db }) =>
  db.raw(`
  update end_user_exports set status = 'DONE', sealed_target = null, finished_at = now(),
    expires_at = now() + $4 * interval '1 hour', archive_id = $5, size = $6, chats = $7, messages = $8, events = $9,
    files = $10, recordings = $11, absent = $12
  where end_user_exports.organization_id = $1 and id = $2 and attempt = $3 and status = 'RUNNING' returning id`),
);

const contextOf = ({ organizationId }: Scope, id: string) => `${organizationId}/end_user_exports/${id}`;
