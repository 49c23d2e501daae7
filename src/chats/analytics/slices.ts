import type { Channel } from "../../platform/catalog/load-catalog";
import type { Scope } from "../../platform/database/scope";
import { figuresOf, type Facts } from "./facts";
import { addUp, ANSWER_BOUNDS, bucketsOf, percentile, type Bucket } from "./histogram";
import { ANSWER_TIMES, TOTALS } from "./measures";
import { spansWithinDays } from "./day-spans";

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

const SUMMED = { ...TOTALS, ...ANSWER_TIMES };
const sum = (name: string) => `coalesce(sum(${name}), 0)::float8`;

/** Parameter: time zone. */
const SLICES = figuresOf<Slice>({
  sums: "conversation_sums",
  facts: "conversation",
  units: ["quarter"],
  groups: {
    date: ["(starts_at at time zone $9)::date", "(started_at at time zone $9)::date"],
    channel: ["channel", "channel"],
  },
  measures: {
    ...Object.fromEntries(Object.entries(SUMMED).map(([name, value]) => [name, [name, value] as const])),
    live: ["0", "(ended_reason is null)::integer"],
  },
  result: `date::text as day, channel, ${[...Object.keys(TOTALS), "live"].map((name) => `${sum(name)} as ${name}`).join(", ")},
    array[${Object.keys(ANSWER_TIMES).map(sum).join(", ")}]::float8[] as times`,
  order: "having sum(conversations) <> 0",
});

/** Reads counts by day and channel. */
export async function slicesOf(facts: Facts, scope: Scope): Promise<Slice[]> {
  return facts.figures(SLICES, [facts.period.timezone], await spansWithinDays(scope, facts.period));
}

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

function answerTimesOf({ answers, answerMs, times }: Counts): AnswerTimes {
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
