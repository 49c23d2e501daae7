import type { Channel } from "../../platform/catalog/load-catalog";
import { factsOf, type Facts } from "./facts";
import { addUp, ANSWER_BOUNDS, bucketsOf, percentile, type Bucket } from "./histogram";

/** Counts of conversations: of one day and channel, or added up. */
export interface Counts {
  readonly conversations: number;
  /** Conversations that have not ended. */
  readonly live: number;
  /** Messages of persons and assistants. */
  readonly messages: number;
  /** Total duration of ended conversations. */
  readonly seconds: number;
  /** Messages of persons. */
  readonly questions: number;
  readonly answers: number;
  readonly answerMs: number;
  readonly times: readonly number[];
  readonly notKnown: number;
  readonly errors: number;
  readonly noAnswer: number;
}

export interface Slice extends Counts {
  readonly day: string;
  readonly channel: Channel;
}

const TIMES = [...ANSWER_BOUNDS, Infinity].map((_, index) => `sum(answer_times[${index + 1}])`).join(", ");

/** Parameter: time zone. */
const SLICES = factsOf<Slice>("conversation_facts", (rows, { $, db }) =>
  rows
    .select(db.raw("(started_at at time zone ?)::date::text as day", [$(3)]), "channel")
    .select(
      db.raw(
        "count(*)::float8 as conversations, count(*) filter (where ended_reason is null)::float8 as live",
      ),
    )
    .select(db.raw("sum(messages)::float8 as messages, coalesce(sum(seconds), 0)::float8 as seconds"))
    .select(db.raw("sum(questions)::float8 as questions, sum(answers)::float8 as answers"))
    .select(db.raw("sum(answer_ms)::float8 as answer_ms"))
    .select(db.raw(`array[${TIMES}]::float8[] as times`))
    .select(db.raw("sum(not_known)::float8 as not_known, sum(errors)::float8 as errors"))
    .select(db.raw("sum(no_answer)::float8 as no_answer"))
    // By date, not by its text: converting the date to text for each row would take longer than counting.
    .groupByRaw("(started_at at time zone ?)::date, channel", [$(3)]),
);

/** Reads counts by day and channel. */
export const slicesOf = (facts: Facts): Promise<Slice[]> => facts.read(SLICES, [facts.period.timezone]);

/** Adds up counts. */
export function addCounts(all: readonly Counts[]): Counts {
  const sum = (name: Exclude<keyof Counts, "times">) =>
    all.reduce((total, counts) => total + counts[name], 0);
  return {
    conversations: sum("conversations"),
    live: sum("live"),
    messages: sum("messages"),
    seconds: sum("seconds"),
    questions: sum("questions"),
    answers: sum("answers"),
    answerMs: sum("answerMs"),
    times: addUp(all.map(({ times }) => times)),
    notKnown: sum("notKnown"),
    errors: sum("errors"),
    noAnswer: sum("noAnswer"),
  };
}

export interface AnswerTimes {
  readonly count: number;
  readonly averageMs: number | null;
  readonly p50Ms: number | null;
  readonly p90Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly buckets: Bucket[];
}

export function answerTimesOf({ answers, answerMs, times }: Counts): AnswerTimes {
  const buckets = bucketsOf(ANSWER_BOUNDS, times);
  const at = (share: number) => percentile(buckets, share) ?? null;
  const averageMs = ratio(answerMs, answers);
  return {
    count: answers,
    averageMs,
    p50Ms: at(0.5),
    p90Ms: at(0.9),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    buckets,
  };
}

export interface Summary extends Omit<Counts, "times" | "seconds" | "answers" | "answerMs"> {
  readonly averageMessages: number | null;
  readonly averageSeconds: number | null;
  readonly unanswered: number;
  readonly answerTimes: AnswerTimes;
}

/** Public counts, with averages. */
export function summary(counts: Counts): Summary {
  const { times: _, seconds, answers: __, answerMs: ___, ...publicCounts } = counts;
  return {
    ...publicCounts,
    averageMessages: ratio(counts.messages, counts.conversations),
    averageSeconds: ratio(seconds, counts.conversations - counts.live),
    unanswered: counts.notKnown + counts.errors + counts.noAnswer,
    answerTimes: answerTimesOf(counts),
  };
}

const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);
