import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import { Embeddings } from "./embeddings";

/** Passages per request. */
const BATCH_SIZE = 64;

interface PassageText {
  readonly id: string;
  readonly content: string;
}

/**
 * Creates the missing vectors of the current model: for a file, or for all knowledge of an assistant.
 * @throws Error if the model does not answer; the job is then retried
 */
export async function embedPassages(
  scope: Scope,
  { fileId, assistantId }: { readonly fileId?: string; readonly assistantId?: string },
): Promise<void> {
  const { embeddings } = scope.ports;
  if (!embeddings) return;
  const owner = fileId ?? assistantId ?? "";
  for (;;) {
    const statement = fileId === undefined ? OF_ASSISTANT : OF_FILE;
    const passages = await scope.read(statement, [owner, embeddings.model]);
    if (passages.length === 0) return;
    const vectors = await scope.of(Embeddings).embed(passages.map(({ content }) => content));
    if (!vectors) return;
    await store(scope, passages, vectors, embeddings.model);
  }
}

const ofOwner = (condition: string) =>
  unprepared<PassageText>(({ db }) =>
    db.raw(`
    select passages.id, passages.content from passages
    where passages.organization_id = $1 and ${condition} and not exists (
      select 1 from passage_embeddings where passage_embeddings.organization_id = $1
        and passage_embeddings.passage_id = passages.id and passage_embeddings.model = $3)
    order by passages.id limit ${BATCH_SIZE}`),
  );

/** Passages without a vector. */
const OF_FILE = ofOwner("passages.file_id = $2");
const OF_ASSISTANT = ofOwner(`(passages.assistant_id = $2 or passages.file_id in (
  select assistant_files.file_id from assistant_files
  where assistant_files.organization_id = $1 and assistant_files.assistant_id = $2
  union all select version_files.file_id from version_files
  where version_files.organization_id = $1 and version_files.assistant_id = $2))`);

/** Stores vectors, except for passages that were deleted in the meantime. */
async function store(
  scope: Scope,
  passages: readonly PassageText[],
  vectors: readonly number[][],
  model: string,
): Promise<void> {
  await scope.transaction(async (scope) => {
    const ids = passages.map(({ id }) => id);
    const locked = await scope.table("passages").select("id").whereIn("id", ids).orderBy("id").forShare();
    const existing = new Set(locked.map(({ id }) => id));
    for (const [index, { id: passageId }] of passages.entries())
      if (existing.has(passageId))
        await scope
          .insert("passage_embeddings", { passageId, model, embedding: JSON.stringify(vectors[index]) })
          .onConflict(["organizationId", "passageId"])
          .merge();
  });
}
