import type { ChannelConfiguration } from "../configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import { statement, unprepared } from "../../platform/database/statement";
import { Embeddings } from "./embeddings";

/** A piece of text with its source. */
export interface Passage {
  readonly text: string;
  /** `resources`, `prompt`, or the name of a file. */
  readonly source: string;
  readonly fileId?: string;
  /** Page of the file, from 1, if it has pages. */
  readonly page?: number;
}

const MAX_PASSAGE_LENGTH = 1_000;
const MAX_PASSAGES = 4;
/** Passages taken from each search before the results are fused. */
const CANDIDATES = 12;
/** Constant k of reciprocal rank fusion: larger values give the first ranks less weight. */
const FUSION_CONSTANT = 60;

type Resources = Pick<ChannelConfiguration, "resources">;

/** The knowledge of assistants, searched with PostgreSQL's full-text search and with vectors if available. */
export class Knowledge {
  constructor(private readonly scope: Scope) {}

  /** Passages from resources and files that match a question, best first. */
  async find(question: string, assistantId: string, { resources }: Resources): Promise<Passage[]> {
    const [byWords, byMeaning] = await Promise.all([
      this.findByWords(question, assistantId, { resources }),
      this.scope.of(Embeddings).findNearest(question, assistantId, split(resources), CANDIDATES),
    ]);
    return fuse([byWords, byMeaning]).slice(0, MAX_PASSAGES);
  }

  /** Passages that share a word with the question. Unlike a vector search, this can find nothing. */
  async findByWords(question: string, assistantId: string, { resources }: Resources): Promise<Passage[]> {
    const texts = split(resources);
    const [own, files] = await Promise.all([
      this.rank(question, texts),
      this.rankInFiles(question, assistantId),
    ]);
    return [...own.map((found) => ({ ...found, source: "resources" })), ...files]
      .sort((a, b) => b.rank - a.rank)
      .slice(0, CANDIDATES)
      .map(({ rank: _, ...passage }) => passage);
  }

  /** Topics to suggest: passages that share a word with the question, then the starts of resources and files. */
  async topics(question: string, assistantId: string, { resources }: Resources): Promise<string[]> {
    const [near, files] = await Promise.all([
      this.findByWords(question, assistantId, { resources }),
      this.beginnings(assistantId),
    ]);
    return [...near.map(({ text }) => text), ...split(resources).slice(0, CANDIDATES), ...files];
  }

  /** Searches the prompt, sentence by sentence: a fallback if nothing else matches. */
  async findInPrompt(question: string, prompt: string): Promise<Passage[]> {
    const found = await this.rank(
      question,
      prompt.split(/\n+|(?<=[.!?])\s+/).filter((line) => line.trim() !== ""),
    );
    return found.slice(0, 1).map(({ text }) => ({ text, source: "prompt" }));
  }

  private async rank(question: string, texts: readonly string[]): Promise<{ text: string; rank: number }[]> {
    if (texts.length === 0) return [];
    return this.scope.read(RANKED, [texts, question]);
  }

  private async beginnings(assistantId: string): Promise<string[]> {
    const found = await this.scope.read(BEGINNINGS, [assistantId]);
    return found.map(({ text }) => text);
  }

  private async rankInFiles(question: string, assistantId: string): Promise<RankedPassage[]> {
    const found = await this.scope.read(IN_FILES, [assistantId, question]);
    return found.map(({ page, ...passage }) => ({ ...passage, ...(page !== null && { page }) }));
  }
}

type RankedPassage = Passage & { readonly rank: number };

/** Merges ranked lists by reciprocal rank fusion: passages that rank high in several lists come first. */
function fuse(lists: readonly (readonly Passage[])[]): Passage[] {
  const scores = new Map<string, { passage: Passage; score: number }>();
  for (const list of lists)
    for (const [rank, passage] of list.entries()) {
      const key = `${passage.fileId ?? ""}/${passage.text}`;
      const score = (scores.get(key)?.score ?? 0) + 1 / (FUSION_CONSTANT + rank);
      scores.set(key, { passage, score });
    }
  return [...scores.values()].sort((a, b) => b.score - a.score).map(({ passage }) => passage);
}

/** Matches any word of the question, not all: a question has words that its answer lacks. */
const QUERY = `cast(replace(cast(plainto_tsquery('english', $3) as text), '&', '|') as tsquery)`;

const RANKED = unprepared<{ text: string; rank: number }>(({ db }) =>
  db.raw(`
  select text, ts_rank(to_tsvector('english', text), query)::float8 as rank
  from unnest($2::text[]) as text, ${QUERY} as query
  where $1::text is not null and to_tsvector('english', text) @@ query order by rank desc limit ${CANDIDATES}`),
);

const BEGINNINGS = statement<{ text: string }>(({ db }) =>
  db.raw(`
  select passages.content as text from assistant_files
  join passages on passages.organization_id = $1 and passages.file_id = assistant_files.file_id
  where assistant_files.organization_id = $1 and assistant_files.assistant_id = $2
    and passages.ordinal < ${MAX_PASSAGES}
  order by passages.ordinal, assistant_files.created_at limit ${CANDIDATES}`),
);

const IN_FILES = unprepared<RankedPassage & { page: number | null }>(({ db }) =>
  db.raw(`
  select passages.content as text, files.name as source, files.id as file_id, passages.page,
    ts_rank(words, query)::float8 as rank
  from ${QUERY} as query, assistant_files
  join files on files.organization_id = $1 and files.id = assistant_files.file_id
  join passages on passages.organization_id = $1 and passages.file_id = files.id
  where assistant_files.organization_id = $1 and assistant_files.assistant_id = $2 and words @@ query
  order by rank desc limit ${CANDIDATES}`),
);

/** Splits a text into paragraphs, and long paragraphs between sentences or words. */
export function split(text: string): string[] {
  const passages: string[] = [];
  for (const paragraph of text.split(/\n\s*\n|\r\n\s*\r\n/)) {
    let rest = paragraph.trim();
    while (rest.length > MAX_PASSAGE_LENGTH) {
      const part = rest.slice(0, MAX_PASSAGE_LENGTH);
      const cut = Math.max(part.lastIndexOf(". ") + 1, part.lastIndexOf("\n")) || part.lastIndexOf(" ");
      passages.push(rest.slice(0, cut > 0 ? cut : MAX_PASSAGE_LENGTH).trim());
      rest = rest.slice(cut > 0 ? cut : MAX_PASSAGE_LENGTH).trim();
    }
    if (rest !== "") passages.push(rest);
  }
  return passages;
}
