import { ANSWER_BOUNDS, bucketsOf, LENGTH_BOUNDS, MESSAGE_BOUNDS } from "../../src/chats/analytics/histogram";
import type { TestDatabase } from "./database";

/** Facts of a conversation, as the database computes them from its messages. */
export interface ComputedFacts {
  readonly chat_id: string;
  readonly assistant_id: string;
  readonly channel: string;
  readonly started_at: Date;
  readonly ended_reason: string | null;
  readonly seconds: number | null;
  readonly messages: number;
  readonly questions: number;
  readonly answers: number;
  readonly answer_ms: number;
  readonly answer_times: readonly number[];
  readonly not_known: number;
  readonly errors: number;
  readonly no_answer: number;
  readonly functions: readonly { readonly name: string; readonly calls: number; readonly failed: number }[];
}

/** Facts of all stored conversations, whether they are counted in sums or not. */
export const computedFacts = ({ query }: Pick<TestDatabase, "query">, organizationId: string) =>
  query<ComputedFacts>(
    `select f.*, f.answer_ms::float8 as answer_ms, coalesce((
       select json_agg(json_build_object('name', g.name, 'calls', g.calls, 'failed', g.failed))
       from function_facts_computed g where g.organization_id = f.organization_id and g.chat_id = f.chat_id), '[]') as functions
     from conversation_facts_computed f where f.organization_id = $1`,
    [organizationId],
  );

/** The figures that remain of an erased conversation: known reasons of its end, and its time by the hour. */
export const anonymous = (facts: ComputedFacts, knownReasons: readonly string[]): ComputedFacts => ({
  ...facts,
  started_at: new Date(Math.floor(facts.started_at.getTime() / 3_600_000) * 3_600_000),
  ended_reason: knownReasons.includes(facts.ended_reason!) ? facts.ended_reason : "other",
  functions: [],
});

const SUMMARY = `conversations live messages averageMessages averageSeconds questions unanswered notKnown errors noAnswer
  answerTimes { count averageMs buckets { from to count } }`;
/** The fields that `directReport` computes. */
export const FIELDS = `
  totals { ${SUMMARY} } days { date ${SUMMARY} channels { channel conversations } }
  assistants { assistantId conversations messages questions unanswered } endReasons { reason conversations }
  lengths { messages { from to count } seconds { from to count } } functions { name calls succeeded failed }`;

type Count = (facts: ComputedFacts) => number;
const sum = (all: readonly ComputedFacts[], of: Count) => all.reduce((total, facts) => total + of(facts), 0);
const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole);
const isEnded = ({ ended_reason }: ComputedFacts) => ended_reason !== null;
const unansweredOf: Count = ({ not_known, errors, no_answer }) => not_known + errors + no_answer;

function spread(bounds: readonly number[], values: readonly (number | null)[]) {
  const counts = [0, ...bounds].map(() => 0);
  for (const value of values)
    if (value !== null) counts[bounds.filter((bound) => value >= bound).length]! += 1;
  return bucketsOf(bounds, counts);
}

function summaryOf(all: readonly ComputedFacts[]) {
  const live = all.length - all.filter(isEnded).length;
  const answers = sum(all, (facts) => facts.answers);
  const times = [0, ...ANSWER_BOUNDS].map((_, index) => sum(all, (facts) => facts.answer_times[index]!));
  return {
    conversations: all.length,
    live,
    messages: sum(all, ({ messages }) => messages),
    averageMessages: ratio(
      sum(all, ({ messages }) => messages),
      all.length,
    ),
    averageSeconds: ratio(
      sum(all, ({ seconds }) => seconds ?? 0),
      all.length - live,
    ),
    questions: sum(all, ({ questions }) => questions),
    unanswered: sum(all, unansweredOf),
    notKnown: sum(all, (facts) => facts.not_known),
    errors: sum(all, (facts) => facts.errors),
    noAnswer: sum(all, (facts) => facts.no_answer),
    answerTimes: {
      count: answers,
      averageMs: ratio(
        sum(all, (facts) => facts.answer_ms),
        answers,
      ),
      buckets: bucketsOf(ANSWER_BOUNDS, times),
    },
  };
}

/** Groups by a key; sorted by a number, descending, and by the key. */
function ranked<T>(keys: readonly string[], row: (key: string) => T, rank: (row: T) => number): T[] {
  const rows = [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1)).map(row);
  return rows.sort((a, b) => rank(b) - rank(a));
}

/** The answer to a query of statistics, counted one conversation at a time. */
export function directReport(all: readonly ComputedFacts[], dates: readonly string[], timeZone: string) {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
  const dated = all.map((facts) => ({ date: format.format(facts.started_at), facts }));
  const ended = all.filter(isEnded);
  const uses = all.flatMap(({ functions }) => functions);
  const total = (name: string, key: "calls" | "failed") =>
    uses.filter((use) => use.name === name).reduce((count, use) => count + use[key], 0);
  return {
    totals: summaryOf(all),
    days: dates.map((date) => {
      const ofDay = dated.filter((one) => one.date === date).map(({ facts }) => facts);
      const channels = ["TEXT", "VOICE", "SMS"].map((channel) => ({
        channel,
        conversations: ofDay.filter((facts) => facts.channel === channel).length,
      }));
      return { date, ...summaryOf(ofDay), channels };
    }),
    assistants: ranked(
      all.map((facts) => facts.assistant_id),
      (assistantId) => {
        const { conversations, messages, questions, unanswered } = summaryOf(
          all.filter((facts) => facts.assistant_id === assistantId),
        );
        return { assistantId, conversations, messages, questions, unanswered };
      },
      ({ conversations }) => conversations,
    ),
    endReasons: ranked(
      ended.map((facts) => facts.ended_reason!),
      (reason) => ({ reason, conversations: ended.filter((facts) => facts.ended_reason === reason).length }),
      ({ conversations }) => conversations,
    ),
    lengths: {
      messages: spread(
        MESSAGE_BOUNDS,
        ended.map(({ messages }) => messages),
      ),
      seconds: spread(
        LENGTH_BOUNDS,
        ended.map(({ seconds }) => seconds),
      ),
    },
    functions: ranked(
      uses.map(({ name }) => name),
      (name) => {
        const [calls, failed] = [total(name, "calls"), total(name, "failed")];
        return { name, calls, failed, succeeded: calls - failed };
      },
      ({ calls }) => calls,
    ),
  };
}
