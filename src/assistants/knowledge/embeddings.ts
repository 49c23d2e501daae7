import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { ModelCredentials } from "../../account/organization/model-credentials";
import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import type { ModelCredential } from "../../platform/ports/text-model";
import type { Passage } from "./knowledge";
import { searchedFiles } from "./searched-files";

/** Timeout for one question; short, because a person waits for the answer. */
const QUESTION_TIMEOUT_MS = 3_000;
/** Timeout for many passages at once. */
const INDEXING_TIMEOUT_MS = 60_000;
/** After a failure, questions of the organization use the full-text search only for this long. */
const FAILURE_PAUSE_MS = 60_000;
/** Interval of checks for passages without a vector, e.g. of files that were attached before there was a key. */
const CHECK_INTERVAL_MS = 600_000;
/** Longer questions are cut to their last part. In characters. */
const MAX_QUESTION_LENGTH = 8_000;

/** Ids of organizations whose last request to the model failed. */
const failing = new LRUCache<string, true>({ max: 10_000, ttl: FAILURE_PAUSE_MS });
/** Assistants whose knowledge was checked for passages without a vector. */
const checked = new LRUCache<string, true>({ max: 10_000, ttl: CHECK_INTERVAL_MS });

/** The passages of a file, or all that an assistant uses. */
export type PassageOwner = { readonly fileId: string } | { readonly assistantId: string };

interface PassageRow {
  readonly text: string;
  readonly source: string | null;
  readonly fileId: string | null;
  readonly page: number | null;
}

/** The passages to search. */
interface SearchedTexts {
  /** Passages of the resources. */
  readonly resources: readonly string[];
  /** Ids of files; undefined for those that the assistant has now. */
  readonly fileIds: readonly string[] | undefined;
}

const NEAREST = unprepared<PassageRow>(({ db }) =>
  db.raw(`
  select passages.content as text, files.name as source, passages.file_id, passages.page
  from passage_embeddings
  join passages on passages.organization_id = $1 and passages.id = passage_embeddings.passage_id
  left join files on files.organization_id = $1 and files.id = passages.file_id
  where passage_embeddings.organization_id = $1 and passage_embeddings.model = $3
    and vector_dims(embedding) = vector_dims($4::vector)
    and ((passages.assistant_id = $2 and passages.content = any($5::text[]))
      or passages.file_id = any(${searchedFiles("$7")}))
  order by embedding <=> $4::vector limit $6`),
);

/** The number of the given texts that are stored as passages of an assistant's resources. */
const STORED = unprepared<{ count: number }>(({ db }) =>
  db.raw(`
  select count(distinct passages.content)::integer as count from passages
  where passages.organization_id = $1 and passages.assistant_id = $2 and passages.content = any($3::text[])`),
);

/** Vector search. Needs the pgvector extension and a credential for the embedding model. */
export class Embeddings {
  constructor(private readonly scope: Scope) {}

  /** Passages with a meaning similar to a question, most similar first; none if vectors are not available. */
  async findNearest(
    question: string,
    assistantId: string,
    { resources, fileIds }: SearchedTexts,
    limit: number,
  ): Promise<Passage[]> {
    const { embeddings } = this.scope.ports;
    if (!embeddings || question.trim() === "") return [];
    const vector = await this.embedQuestion(question);
    if (!vector) return [];
    const values = [assistantId, embeddings.model, JSON.stringify(vector), resources, limit, fileIds];
    const [rows] = await Promise.all([
      this.scope.read(NEAREST, values),
      this.enqueueMissing(assistantId, resources),
    ]);
    return rows.map(({ text, source, fileId, page }) => ({
      text,
      source: source ?? "resources",
      ...(fileId !== null && { fileId }),
      ...(page !== null && { page }),
    }));
  }

  /** Vectors of texts. @returns undefined if no model is configured. @throws Error if it does not answer */
  async embed(texts: readonly string[], timeoutMs = INDEXING_TIMEOUT_MS): Promise<number[][] | undefined> {
    const { embeddings } = this.scope.ports;
    const credential = await this.credential();
    if (!embeddings || !credential) return undefined;
    const signal = AbortSignal.timeout(timeoutMs);
    return embeddings.remote.embed(texts, { model: embeddings.model, credential, signal });
  }

  /** Enqueues a job that creates missing vectors. */
  async enqueue(owner: PassageOwner): Promise<void> {
    if (!(await this.credential())) return;
    const { organizationId } = this.scope;
    const key = `knowledge.embed:${organizationId}:${Object.entries(owner).flat().join(":")}`; // a file may have an assistant's id
    await this.scope.enqueue(
      "knowledge.embed",
      { ...owner },
      { queue: `knowledge:${organizationId}`, key, attempts: 3 },
    );
  }

  private async embedQuestion(question: string): Promise<number[] | undefined> {
    const { organizationId } = this.scope;
    if (failing.has(organizationId)) return undefined;
    const { embeddings, models } = this.scope.ports;
    const text = question.slice(-MAX_QUESTION_LENGTH).toWellFormed();
    try {
      const vectors = await this.embed([text], QUESTION_TIMEOUT_MS);
      if (vectors && embeddings)
        models.reports.answered({ id: embeddings.model, model: embeddings.model }, "embedding");
      return vectors?.[0];
    } catch (error) {
      models.reports.failed(error, { purpose: "embedding", organizationId });
      failing.set(organizationId, true); // the full-text search still finds passages
      return undefined;
    }
  }

  /** Enqueues a job if passages may lack vectors: from time to time, and when passages are missing themselves. */
  private async enqueueMissing(assistantId: string, resources: readonly string[]): Promise<void> {
    const { organizationId, ports } = this.scope;
    const content = hash("sha256", JSON.stringify(resources), "base64");
    const key = [organizationId, assistantId, ports.embeddings?.model, content].join("/");
    if (checked.has(key) && (await this.isStored(assistantId, resources))) return;
    checked.set(key, true);
    await this.enqueue({ assistantId });
  }

  /** Whether all passages are stored: those of a version that nothing ran for a while are deleted. */
  private async isStored(assistantId: string, resources: readonly string[]): Promise<boolean> {
    if (resources.length === 0) return true;
    const [stored] = await this.scope.read(STORED, [assistantId, resources]);
    return stored?.count === new Set(resources).size;
  }

  private async credential(): Promise<ModelCredential | undefined> {
    const { embeddings } = this.scope.ports;
    if (!embeddings) return undefined;
    return embeddings.credential ?? this.scope.of(ModelCredentials).for({ provider: "OPENAI" });
  }
}
