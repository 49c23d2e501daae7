import type { ChannelConfiguration } from "../configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { withoutCommonWords } from "../../platform/language/question-words";
import { Embeddings } from "./embeddings";
import { splitHeading } from "./headings";
import { searchedFiles } from "./searched-files";
import { split } from "./split";
import { byScore, hasWords, searchFiles, searchTexts, type MatchScore } from "./word-search";

/** A piece of text with its source. */
export interface Passage {
  readonly text: string;
  /** `resources`, or the name of a file. */
  readonly source: string;
  readonly fileId?: string;
  /** Page of the file, from 1, if it has pages. */
  readonly page?: number;
}

const MAX_PASSAGES = 4;
/** Passages taken from each search before the results are fused. */
const MAX_CANDIDATES = 12;
/** Constant k of reciprocal rank fusion: larger values give the first ranks less weight. */
const FUSION_CONSTANT = 60;

/** Share of the question's words that an answer contains at least; a word in its heading counts half as much again. */
const MIN_COVERAGE = 0.5;
/** In characters. Only one part of a longer passage is quoted. */
const MAX_QUOTE_LENGTH = 500;

/** What an assistant knows: its resources, and its files unless others are named. */
export interface KnowledgeSource extends Pick<ChannelConfiguration, "resources"> {
  /** Ids of the files to use instead of those that the assistant has now. */
  readonly fileIds?: readonly string[];
}

/** The knowledge of assistants, searched with PostgreSQL's full-text search and with vectors if available. */
export class Knowledge {
  constructor(private readonly scope: Scope) {}

  /** Passages from resources and files that match a question, best first. */
  async find(question: string, assistantId: string, source: KnowledgeSource): Promise<Passage[]> {
    const texts = { resources: split(source.resources), fileIds: source.fileIds };
    const [byWords, byMeaning] = await Promise.all([
      this.findByWords(question, assistantId, source),
      this.scope.of(Embeddings).findNearest(question, assistantId, texts, MAX_CANDIDATES),
    ]);
    return fuse([byWords.map(({ passage }) => passage), byMeaning]).slice(0, MAX_PASSAGES);
  }

  /** Passages that share a word with the question, best first. Unlike a vector search, this can find nothing. */
  async findByWords(
    question: string,
    assistantId: string,
    { resources, fileIds }: KnowledgeSource,
  ): Promise<(MatchScore & { readonly passage: Passage })[]> {
    const [own, files] = await Promise.all([
      searchTexts(this.scope, question, split(resources), MAX_CANDIDATES),
      searchFiles(this.scope, question, { assistantId, fileIds }, MAX_CANDIDATES),
    ]);
    const found = [
      ...own.map(({ text, ...fit }) => ({ ...fit, passage: { text, source: "resources" } })),
      ...files.map(({ text, source, fileId, page, ...fit }) => ({
        ...fit,
        passage: { text, source, fileId, ...(page !== null && { page }) },
      })),
    ].sort(byScore);
    return found.slice(0, MAX_CANDIDATES);
  }

  /**
   * The text that answers a question without a model: the best passage, if it shares enough words with the question. Of a
   * long passage, and of one of a file, only the best part is quoted. The heading precedes the text, unless it is a question and the text alone answers it.
   */
  async quote(question: string, assistantId: string, source: KnowledgeSource): Promise<Passage | undefined> {
    const topic = withoutCommonWords(question);
    const asked = topic !== question && (await hasWords(this.scope, topic)) ? topic : question;
    const [best] = await this.findByWords(asked, assistantId, source);
    if (!best || best.coverage + best.inHeading / 2 < MIN_COVERAGE) return undefined;
    const { passage, coverage } = best;
    const { heading, text: quoted } = splitHeading(await this.bestPart(passage, asked));
    if (heading === undefined) return { ...passage, text: quoted };
    const isQuestion = /[?？؟]$/.test(heading);
    if (isQuestion && coverage > MIN_COVERAGE) return { ...passage, text: quoted };
    return { ...passage, text: `${heading}${isQuestion ? "" : ":"} ${quoted}` };
  }

  /** The part of a passage of a file, or of a long one, that fits a question best, with the heading above it. */
  private async bestPart({ text, fileId }: Passage, asked: string): Promise<string> {
    const parts =
      fileId === undefined && text.length <= MAX_QUOTE_LENGTH ? [] : split(withHeadingApart(text));
    if (parts.length < 2) return text;
    const [part] = await searchTexts(this.scope, asked, parts, 1);
    return part?.text ?? text;
  }

  /** Headings to suggest: of passages that share a word with the question, then of all resources and files. */
  async topics(question: string, assistantId: string, source: KnowledgeSource): Promise<string[]> {
    const [near, files] = await Promise.all([
      this.findByWords(question, assistantId, source),
      this.beginnings(assistantId, source),
    ]);
    const texts = [...near.map(({ passage }) => passage.text), ...split(source.resources), ...files];
    return [...new Set(texts.flatMap((text) => splitHeading(text).heading ?? []))];
  }

  /** The first passages of an assistant's files. */
  async beginnings(assistantId: string, { fileIds }: Pick<KnowledgeSource, "fileIds">): Promise<string[]> {
    return (await this.scope.read(BEGINNINGS, [assistantId, fileIds])).map(({ text }) => text);
  }
}

/** A passage of a file begins with the headings above it; as a line by itself, they belong to all of its paragraphs. */
function withHeadingApart(text: string): string {
  const { heading } = splitHeading(text);
  return heading === undefined ? text : text.replace("\n", "\n\n");
}

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

const BEGINNINGS = statement<{ text: string }>(({ db }) =>
  db.raw(`
  select passages.content as text from passages
  left join assistant_files on assistant_files.organization_id = $1 and assistant_files.assistant_id = $2
    and assistant_files.file_id = passages.file_id
  where passages.organization_id = $1 and passages.file_id = any(${searchedFiles("$3")})
    and passages.ordinal < ${MAX_PASSAGES}
  order by passages.ordinal, assistant_files.created_at, passages.file_id limit ${MAX_CANDIDATES}`),
);
