import type { Channel } from "../../platform/catalog/load-catalog";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { Facts, factsOf, figuresOf } from "./facts";
import { bucketsOf, LENGTH_BOUNDS, MESSAGE_BOUNDS, type Bucket } from "./histogram";
import { LENGTHS_IN_MESSAGES, LENGTHS_IN_SECONDS } from "./measures";
import { daysOf, periodOf, type AnalyticsInput, type Period } from "./period";
import { slicesOf, summary, addCounts, type Slice, type Summary } from "./slices";
import {
  failingDestinations,
  webhookHealth,
  type FailingDestination,
  type WebhookHealth,
} from "./webhook-health";

export interface ChannelCount {
  readonly channel: Channel;
  readonly conversations: number;
}

export interface AssistantUse {
  readonly assistantId: string;
  readonly name: string;
  readonly deleted: boolean;
  readonly conversations: number;
  readonly messages: number;
  readonly questions: number;
  readonly unanswered: number;
}

export interface FunctionUse {
  readonly name: string;
  readonly calls: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface UnansweredQuestion {
  readonly messageId: string;
  readonly chatId: string;
  readonly assistantId: string;
  readonly channel: Channel;
  readonly question: string;
  readonly answer: string | null;
  readonly reason: "NOT_KNOWN" | "ERROR" | "NO_ANSWER";
  readonly askedAt: Date;
}

const CHANNELS: readonly Channel[] = ["TEXT", "VOICE", "SMS"];

const ASSISTANTS = figuresOf<Omit<AssistantUse, "name" | "deleted">>({
  sums: "conversation_sums",
  facts: "conversation",
  units: ["day", "quarter"],
  groups: { assistant_id: ["assistant_id", "assistant_id"] },
  measures: {
    conversations: ["conversations", "1"],
    messages: ["messages", "messages"],
    questions: ["questions", "questions"],
    unanswered: [
      "coalesce(not_known, 0) + coalesce(errors, 0) + coalesce(no_answer, 0)",
      "(not_known + errors + no_answer)",
    ],
  },
  result: `assistant_id, sum(conversations)::float8 as conversations, coalesce(sum(messages), 0)::float8 as messages,
    coalesce(sum(questions), 0)::float8 as questions, coalesce(sum(unanswered), 0)::float8 as unanswered`,
  order: "having sum(conversations) <> 0 order by 2 desc, 1",
});

const ASSISTANT_NAMES = statement<{ id: string; name: string; deleted: boolean }>(({ table, $, db }) =>
  table("assistants")
    .where("id", db.raw("any(?::text[])", [$(1)]))
    .select(db.raw("id, name, deleted_at is not null as deleted")),
);

const END_REASONS = figuresOf<{ reason: string; conversations: number }>({
  sums: "end_reason_sums",
  facts: "conversation",
  units: ["hour"],
  groups: { reason: ["reason", "ended_reason"] },
  measures: { conversations: ["conversations", "1"] },
  only: "ended_reason is not null",
  result: "reason, sum(conversations)::float8 as conversations",
  order: "having sum(conversations) <> 0 order by 2 desc, 1",
});

const FUNCTIONS = figuresOf<FunctionUse>({
  sums: "function_sums",
  facts: "function",
  units: ["hour"],
  groups: { name: ["name", "name"] },
  measures: { calls: ["calls", "calls"], failed: ["failed", "failed"] },
  result: `name, sum(calls)::float8 as calls, sum(failed)::float8 as failed, sum(calls - failed)::float8 as succeeded`,
  order: "having sum(calls) <> 0 order by 2 desc, 1",
});

/** Parameter: number of questions. Each part of the union has an index by time. */
const UNANSWERED = factsOf<UnansweredQuestion>(({ db, table, $, narrowed }) => {
  const unanswered = (facts: "conversation_facts_current" | "conversation_facts_unsummed") =>
    narrowed(table(facts).where("startedAt", ">=", $(1)).where("startedAt", "<", $(2)))
      .select("chatId", "startedAt")
      .whereRaw("not_known + errors + no_answer > 0");
  const summed = unanswered("conversation_facts_current").orderByRaw("started_at desc limit ?", [$(3)]);
  const changed = unanswered("conversation_facts_unsummed").where({ sign: db.raw("1") });
  const chats = db.raw("select chat_id from ((?) union all ?) recent order by started_at desc limit ?", [
    summed,
    changed,
    $(3),
  ]);
  return table("question_outcomes")
    .select("id as messageId", "chatId", "assistantId", "channel", "question", "answer", "askedAt")
    .select("outcome as reason")
    .whereRaw("chat_id = any(array(?))", [chats]) // an array, so that the messages of other chats are never read
    .whereRaw("outcome in ('NOT_KNOWN', 'ERROR', 'NO_ANSWER')")
    .orderByRaw("asked_at desc, id limit ?", [$(3)]);
});

const LENGTHS = { ...LENGTHS_IN_MESSAGES, ...LENGTHS_IN_SECONDS };
const lists = [LENGTHS_IN_MESSAGES, LENGTHS_IN_SECONDS].map(
  (buckets) =>
    `array[${Object.keys(buckets)
      .map((name) => `coalesce(sum(${name}), 0)`)
      .join(", ")}]::float8[]`,
);
const DISTRIBUTIONS = figuresOf<{ messages: number[]; seconds: number[] }>({
  sums: "conversation_sums",
  facts: "conversation",
  units: ["day", "quarter"],
  measures: Object.fromEntries(
    Object.entries(LENGTHS).map(([name, value]) => [name, [name, value] as const]),
  ),
  only: "ended_reason is not null",
  result: `${lists[0]} as messages, ${lists[1]} as seconds`,
});

/** The statistics of a period. Each is read when requested; statistics of the same statement share its result. */
export class Report {
  readonly period: Period;
  private readonly facts: Facts;
  private slices: Promise<Slice[]> | undefined;

  /** @throws BAD_USER_INPUT */
  constructor(
    private readonly scope: Scope,
    private readonly input: AnalyticsInput,
  ) {
    this.period = periodOf(input);
    this.facts = new Facts(scope, this.period, input);
  }

  async totals(): Promise<Summary> {
    return summary(addCounts(await this.byDayAndChannel()));
  }

  /** Every day of the period, including days without conversations. */
  async days(): Promise<(Summary & { date: string; channels: ChannelCount[] })[]> {
    const slices = await this.byDayAndChannel();
    return daysOf(this.period).map((date) => {
      const ofDay = slices.filter(({ day }) => day === date);
      return { date, ...summary(addCounts(ofDay)), channels: channelsOf(ofDay) };
    });
  }

  /** By number of conversations, descending. */
  async assistants(): Promise<AssistantUse[]> {
    const used = await this.facts.figures(ASSISTANTS);
    const ids = used.map(({ assistantId }) => assistantId);
    const names = await this.scope.read(ASSISTANT_NAMES, [ids]);
    const byId = new Map(names.map(({ id, name, deleted }) => [id, { name, deleted }]));
    return used.map((use) => ({ ...use, ...byId.get(use.assistantId)! })); // a foreign key ensures that the row exists
  }

  /** End reasons of conversations, the most frequent first. */
  endReasons(): Promise<{ reason: string; conversations: number }[]> {
    return this.facts.figures(END_REASONS);
  }

  /** Lengths of ended conversations, in messages and seconds. */
  async lengths(): Promise<{ messages: Bucket[]; seconds: Bucket[] }> {
    const [counts] = await this.facts.figures(DISTRIBUTIONS);
    return {
      messages: bucketsOf(MESSAGE_BOUNDS, counts!.messages),
      seconds: bucketsOf(LENGTH_BOUNDS, counts!.seconds),
    };
  }

  /** By number of calls, descending. */
  functions(): Promise<FunctionUse[]> {
    return this.facts.figures(FUNCTIONS);
  }

  /** Unanswered questions of the latest conversations that have any, newest first. @param first 1 to 100 */
  unansweredQuestions(first: number): Promise<UnansweredQuestion[]> {
    return this.facts.read(UNANSWERED, [first]);
  }

  /** Of the organization or project; ignores other filters. Empty for a key limited to some assistants. */
  webhooks(): Promise<WebhookHealth> {
    return webhookHealth(this.scope, this.period, this.input.projectId ?? null);
  }

  failingDestinations(): Promise<FailingDestination[]> {
    return failingDestinations(this.scope, this.input.projectId ?? null);
  }

  private byDayAndChannel(): Promise<Slice[]> {
    return (this.slices ??= slicesOf(this.facts, this.scope));
  }
}

const channelsOf = (slices: readonly Slice[]): ChannelCount[] =>
  CHANNELS.map((channel) => ({
    channel,
    conversations: slices.find((slice) => slice.channel === channel)?.conversations ?? 0,
  }));
