import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { ModelCredentials } from "../../account/organization/model-credentials";
import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import type { ModelCredential } from "../../platform/ports/text-model";
import type { Passage } from "./knowledge";

/** How long the vector of a question is waited for, in milliseconds: the person is waiting, too. */
const QUESTION_TIMEOUT_MS = 3_000;
/** The vectors of many passages. */
const INDEXING_TIMEOUT_MS = 60_000;
/** After a failure an organization's questions are answered by words alone for this long, in milliseconds. */
const FAILURE_PAUSE_MS = 60_000;
/** How often it is looked for passages without a vector, in milliseconds: those from before there was a key. */
const CHECK_INTERVAL_MS = 600_000;
/** More than this of a question is not looked at. */
const MAX_QUESTION_LENGTH = 8_000;

/** Organizations whose last question found no model. */
const failing = new LRUCache<string, true>({ max: 10_000, ttl: FAILURE_PAUSE_MS });
/** What has been looked through for passages without a vector. */
const checked = new LRUCache<string, true>({ max: 10_000, ttl: CHECK_INTERVAL_MS });

/** Whose passages are meant: a file's, or all that an assistant knows. */
export type PassageOwner = { readonly fileId: string } | { readonly assistantId: string };

interface Found {
  readonly text: string;
  readonly source: string | null;
  readonly fileId: string | null;
  readonly page: number | null;
}

const NEAREST = unprepared<Found>(({ db }) =>
  db.raw(`
  select passages.content as text, files.name as source, passages.file_id, passages.page
  from passage_embeddings
  join passages on passages.organization_id = $1 and passages.id = passage_embeddings.passage_id
  left join files on files.organization_id = $1 and files.id = passages.file_id
  where passage_embeddings.organization_id = $1 and passage_embeddings.model = $3
    and vector_dims(embedding) = vector_dims($4::vector)
    and ((passages.assistant_id = $2 and passages.content = any($5::text[])) or passages.file_id in (
      select assistant_files.file_id from assistant_files
      where assistant_files.organization_id = $1 and assistant_files.assistant_id = $2))
  order by embedding <=> $4::vector limit $6`),
);

/** What passages mean: found by vectors, where the database keeps them and somebody has given a key. */
export class Embeddings {
  constructor(private readonly scope: Scope) {}

  /** Passages that mean something near to a question, the nearest first; none where there are no vectors. */
  async findNearest(
    question: string,
    assistantId: string,
    resources: readonly string[],
    most: number,
  ): Promise<Passage[]> {
    const { embeddings } = this.scope.ports;
    if (!embeddings || question.trim() === "") return [];
    const vector = await this.embedQuestion(question);
    if (!vector) return [];
    await this.enqueueIfChanged(assistantId, resources);
    const values = [assistantId, embeddings.model, JSON.stringify(vector), resources, most];
    const rows = await this.scope.read(NEAREST, values);
    return rows.map(({ text, source, fileId, page }) => ({
      text,
      source: source ?? "resources",
      ...(fileId !== null && { fileId }),
      ...(page !== null && { page }),
    }));
  }

  /** Vectors of passages. @returns undefined where there is no model to ask; @throws Error when it does not answer */
  async embed(texts: readonly string[], timeoutMs = INDEXING_TIMEOUT_MS): Promise<number[][] | undefined> {
    const { embeddings } = this.scope.ports;
    const credential = await this.credential();
    if (!embeddings || !credential) return undefined;
    const signal = AbortSignal.timeout(timeoutMs);
    return embeddings.remote.embed(texts, { model: embeddings.model, credential, signal });
  }

  /** Has vectors made for the passages that have none, by a job. */
  async enqueue(owner: PassageOwner): Promise<void> {
    if (!(await this.credential())) return;
    const { organizationId } = this.scope;
    const key = `knowledge.embed:${organizationId}:${Object.values(owner).join()}`;
    await this.scope.enqueue(
      "knowledge.embed",
      { ...owner },
      { queue: `knowledge:${organizationId}`, key, tries: 3 },
    );
  }

  private async embedQuestion(question: string): Promise<number[] | undefined> {
    const { organizationId } = this.scope;
    if (failing.has(organizationId)) return undefined;
    try {
      return (
        await this.embed([question.slice(-MAX_QUESTION_LENGTH).toWellFormed()], QUESTION_TIMEOUT_MS)
      )?.[0];
    } catch {
      failing.set(organizationId, true); // words find something, too
      return undefined;
    }
  }

  private async enqueueIfChanged(assistantId: string, resources: readonly string[]): Promise<void> {
    const { organizationId, ports } = this.scope;
    const content = createHash("sha256").update(JSON.stringify(resources)).digest("base64");
    const key = [organizationId, assistantId, ports.embeddings?.model, content].join("/");
    if (checked.has(key)) return;
    checked.set(key, true);
    await this.enqueue({ assistantId });
  }

  private async credential(): Promise<ModelCredential | undefined> {
    const { embeddings } = this.scope.ports;
    if (!embeddings) return undefined;
    return embeddings.credential ?? this.scope.of(ModelCredentials).for({ provider: "OPENAI" });
  }
}
