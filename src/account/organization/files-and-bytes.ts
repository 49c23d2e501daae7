import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";

const FILES = statement<{ files: string; bytes: string }>(({ table, db }) =>
  table("files").select(db.raw("count(*) as files, coalesce(sum(size), 0) as bytes")),
);

const ARCHIVES = statement<{ bytes: string }>(({ table, db }) =>
  table("end_user_exports").whereNotNull("archiveId").select(db.raw("coalesce(sum(size), 0) as bytes")),
);

/** Number of files, and bytes of files and archives. */
export interface FileUse {
  readonly files: number;
  readonly bytes: number;
}

/** Counts the files and archives of an organization, from indexes that contain the sizes. */
export async function filesAndBytes(scope: Scope): Promise<FileUse> {
  const [[files], [archives]] = await Promise.all([scope.read(FILES), scope.read(ARCHIVES)]);
  return { files: Number(files!.files), bytes: Number(files!.bytes) + Number(archives!.bytes) };
}
