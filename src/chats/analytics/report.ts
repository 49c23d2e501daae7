import type { Channel } from "../../platform/catalog/load-catalog";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { Facts, factsOf, type FactsStatement } from "./facts";
import { bucketsOf, LENGTH_BOUNDS, MESSAGE_BOUNDS, type Bucket } from "./histogram";
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

interface BucketCount {
  readonly bucket: number;
  readonly count: number;
}

const ASSISTANTS = factsOf<Omit<AssistantUse, "name" | "deleted">>("conversation_facts", (rows, { db }) =>
  rows
    .select("assistantId", db.raw("count(*)::float8 as conversations"))
    .select(db.raw("sum(messages)::float8 as messages, sum(questions)::float8 as questions"))
    .select(db.raw("sum(not_known + errors + no_answer)::float8 as unanswered"))
    .groupBy("assistantId")
    .orderByRaw("2 desc, 1"),
);

const ASSISTANT_NAMES = statement<{ id: string; name: string; deleted: boolean }>(({ table, $, db }) =>
  table("assistants")
    .where("id", db.raw("any(?::text[])", [$(1)]))
    .select(db.raw("id, name, deleted_at is not null as deleted")),
);

const END_REASONS = factsOf<{ reason: string; conversations: number }>("conversation_facts", (rows, { db }) =>
  rows
    .whereNotNull("endedReason")
    .select(db.raw("ended_reason as reason, count(*)::float8 as conversations"))
    .groupBy("endedReason")
    .orderByRaw("2 desc, 1"),
);

const FUNCTIONS = factsOf<FunctionUse>("function_facts", (rows, { db }) =>
  rows
    .select("name", db.raw("sum(calls)::float8 as calls, sum(failed)::float8 as failed"))
    .select(db.raw("sum(calls - failed)::float8 as succeeded"))
    .groupBy("name")
    .orderByRaw("2 desc, 1"),
);

/** Parameter: number of questions. */
const UNANSWERED = factsOf<UnansweredQuestion>("conversation_facts", (rows, { table, $ }) => {
  const chats = rows
    .select("chatId")
    .whereRaw("not_known + errors + no_answer > 0")
    .orderBy("startedAt", "desc");
  return table("question_outcomes")
    .select("id as messageId", "chatId", "assistantId", "channel", "question", "answer", "askedAt")
    .select("outcome as reason")
    .whereRaw("chat_id in (? limit ?)", [chats, $(3)])
    .whereRaw("outcome in ('NOT_KNOWN', 'ERROR', 'NO_ANSWER')")
    .orderByRaw("asked_at desc, id limit ?", [$(3)]);
});

const lengthsOf = (column: "messages" | "seconds", bounds: readonly number[]) =>
  factsOf<BucketCount>("conversation_facts", (rows, { db }) =>
    rows
      .whereNotNull("endedReason")
      .select(db.raw(`width_bucket(??, array[${bounds.join(", ")}]) as bucket`, [column]))
      .select(db.raw("count(*)::float8 as count"))
      .groupByRaw("1"),
  );
const MESSAGES = lengthsOf("messages", MESSAGE_BOUNDS);
const SECONDS = lengthsOf("seconds", LENGTH_BOUNDS);

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
    const used = await this.facts.read(ASSISTANTS);
    const ids = used.map(({ assistantId }) => assistantId);
    const names = await this.scope.read(ASSISTANT_NAMES, [ids]);
    const byId = new Map(names.map(({ id, name, deleted }) => [id, { name, deleted }]));
    return used.map((use) => ({ ...use, ...byId.get(use.assistantId)! })); // a foreign key ensures that the row exists
  }

  /** End reasons of conversations, the most frequent first. */
  endReasons(): Promise<{ reason: string; conversations: number }[]> {
    return this.facts.read(END_REASONS);
  }

  /** Lengths of ended conversations, in messages and seconds. */
  async lengths(): Promise<{ messages: Bucket[]; seconds: Bucket[] }> {
    const [messages, seconds] = await Promise.all([
      this.distribution(MESSAGES, MESSAGE_BOUNDS),
      this.distribution(SECONDS, LENGTH_BOUNDS),
    ]);
    return { messages, seconds };
  }

  /** By number of calls, descending. */
  functions(): Promise<FunctionUse[]> {
    return this.facts.read(FUNCTIONS);
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
    return (this.slices ??= slicesOf(this.facts));
  }

  private async distribution(
    lengths: FactsStatement<BucketCount>,
    bounds: readonly number[],
  ): Promise<Bucket[]> {
    const found = await this.facts.read(lengths);
    const counts = new Map(found.map(({ bucket, count }) => [bucket, count]));
    return bucketsOf(
      bounds,
      [0, ...bounds].map((_, bucket) => counts.get(bucket) ?? 0),
    );
  }
}

const channelsOf = (slices: readonly Slice[]): ChannelCount[] =>
  CHANNELS.map((channel) => ({
    channel,
    conversations: slices.find((slice) => slice.channel === channel)?.conversations ?? 0,
  }));
