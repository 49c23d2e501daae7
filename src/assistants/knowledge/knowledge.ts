import type { ChannelConfiguration } from "../configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import { statement, unprepared } from "../../platform/database/statement";
import { Embeddings } from "./embeddings";

/** Something that was found, and where. */
export interface Passage {
  readonly text: string;
  /** `resources`, `prompt`, or the name of a file. */
  readonly source: string;
  readonly fileId?: string;
  /** Of the file, from 1, where it has pages. */
  readonly page?: number;
}

const MAX_PASSAGE_LENGTH = 1_000;
const MAX_PASSAGES = 4;
/** So many are looked at of each way of finding, before the best of all are taken. */
const CANDIDATES = 12;
/** Evens out how much the first places count beside the next ones (reciprocal rank fusion). */
const FUSION_CONSTANT = 60;

type Resources = Pick<ChannelConfiguration, "resources">;

/** What an assistant knows, found by PostgreSQL's full-text search, and by vectors where there are some. */
export class Knowledge {
  constructor(private readonly scope: Scope) {}

  /** Passages about a question from the configuration's resources and the assistant's files, the best first. */
  async find(question: string, assistantId: string, { resources }: Resources): Promise<Passage[]> {
    const [byWords, byMeaning] = await Promise.all([
      this.findByWords(question, assistantId, { resources }),
      this.scope.of(Embeddings).findNearest(question, assistantId, split(resources), CANDIDATES),
    ]);
    return fuse([byWords, byMeaning]).slice(0, MAX_PASSAGES);
  }

  /** Those only that share a word with the question: something is near to any question, but not always an answer. */
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

  /** What there is to ask about: what shares a word with a question first, then how resources and files begin. */
  async topics(question: string, assistantId: string, { resources }: Resources): Promise<string[]> {
    const [near, files] = await Promise.all([
      this.findByWords(question, assistantId, { resources }),
      this.beginnings(assistantId),
    ]);
    return [...near.map(({ text }) => text), ...split(resources).slice(0, CANDIDATES), ...files];
  }

  /** The prompt too, sentence by sentence: for when there is nothing else to answer with. */
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

/** One list of several: what stands far up in more than one comes first. */
function fuse(lists: readonly (readonly Passage[])[]): Passage[] {
  const scores = new Map<string, { passage: Passage; score: number }>();
  for (const list of lists)
    for (const [place, passage] of list.entries()) {
      const key = `${passage.fileId ?? ""}/${passage.text}`;
      const score = (scores.get(key)?.score ?? 0) + 1 / (FUSION_CONSTANT + place);
      scores.set(key, { passage, score });
    }
  return [...scores.values()].sort((a, b) => b.score - a.score).map(({ passage }) => passage);
}

/** Any of the words, not all of them: a question has words that its answer lacks. */
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
  where assistant_files.organization_id = $1 and assistant_files.assistant_id = $2 and passages.ordinal < ${MAX_PASSAGES}
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

/** Paragraphs, long ones cut between sentences or words. */
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
