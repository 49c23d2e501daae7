import { graphql } from "./api";
import { before, type Filters } from "./filters";

export type Channel = "TEXT" | "VOICE" | "SMS";
export const CHANNELS: readonly Channel[] = ["TEXT", "VOICE", "SMS"];
export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = { TEXT: "Chat", VOICE: "Voice", SMS: "SMS" };

export interface Bucket {
  readonly from: number;
  readonly to: number | null;
  readonly count: number;
}
interface Times {
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}
export interface Totals {
  readonly conversations: number;
  readonly live: number;
  readonly messages: number;
  readonly averageMessages: number | null;
  readonly averageSeconds: number | null;
  readonly questions: number;
  readonly unanswered: number;
  readonly answerTimes: Times & { readonly buckets: readonly Bucket[] };
}
export interface Day {
  readonly date: string;
  readonly conversations: number;
  readonly messages: number;
  readonly answerTimes: Times;
  readonly channels: readonly { readonly channel: Channel; readonly conversations: number }[];
}
export interface Use {
  readonly name: string;
  readonly calls: number;
  readonly succeeded: number;
  readonly failed: number;
}
export interface Deliveries {
  readonly deliveries: number;
  readonly delivered: number;
  readonly failed: number;
  readonly pending: number;
  readonly retried: number;
  readonly medianMs: number | null;
}
export interface Failing {
  readonly id: string;
  readonly name: string | null;
  readonly host: string;
  readonly enabled: boolean;
  readonly failingSince: string | null;
  readonly failures: number;
}
export interface Question {
  readonly messageId: string;
  readonly chatId: string;
  readonly assistantId: string;
  readonly channel: Channel;
  readonly question: string;
  readonly answer: string | null;
  readonly reason: "NOT_KNOWN" | "ERROR" | "NO_ANSWER";
  readonly askedAt: string;
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
export interface Before {
  readonly totals: Totals;
  readonly functions: readonly Use[];
  readonly webhooks: Deliveries;
}
export interface Statistics extends Before {
  readonly days: readonly Day[];
  readonly assistants: readonly AssistantUse[];
  readonly endReasons: readonly { readonly reason: string; readonly conversations: number }[];
  readonly lengths: { readonly messages: readonly Bucket[]; readonly seconds: readonly Bucket[] };
  readonly unansweredQuestions: readonly Question[];
  readonly webhooks: Deliveries & { readonly days: readonly (Deliveries & { readonly date: string })[] };
  readonly failingDestinations: readonly Failing[];
}
export interface Shown {
  readonly now: Statistics;
  readonly before: Before;
  /** Assistants that can be chosen: those with conversations in the period. */
  readonly everyone: {
    readonly assistants: readonly { readonly assistantId: string; readonly name: string }[];
  };
}

const TOTALS = `conversations live messages averageMessages averageSeconds questions unanswered
  answerTimes { count p50Ms p95Ms buckets { from to count } }`;
const DELIVERIES = "deliveries delivered failed pending retried medianMs";
const STATISTICS = `query Statistics($now: AnalyticsInput!, $before: AnalyticsInput!, $everyone: AnalyticsInput!) {
  now: analytics(input: $now) {
    totals { ${TOTALS} }
    days { date conversations messages answerTimes { count p50Ms p95Ms } channels { channel conversations } }
    assistants { assistantId name deleted conversations messages questions unanswered }
    endReasons { reason conversations }
    lengths { messages { from to count } seconds { from to count } }
    functions { name calls succeeded failed }
    unansweredQuestions(first: 10) { messageId chatId assistantId channel question answer reason askedAt }
    webhooks { ${DELIVERIES} days { date ${DELIVERIES} } }
    failingDestinations { id name host enabled failingSince failures }
  }
  before: analytics(input: $before) {
    totals { ${TOTALS} }
    functions { name calls succeeded failed }
    webhooks { ${DELIVERIES} }
  }
  everyone: analytics(input: $everyone) { assistants { assistantId name } }
}`;

const timezone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function statistics({ from, to, assistantId, channel }: Filters): Promise<Shown> {
  const rest = { assistantId, channel, timezone: timezone() };
  return graphql(STATISTICS, {
    now: { from, to, ...rest },
    before: { ...before({ from, to }), ...rest },
    everyone: { from, to },
  });
}

export interface LogEntry {
  readonly id: string;
  readonly type: Channel;
  readonly label: string;
  readonly createdAt: string;
  readonly assistantId: string;
  readonly assistantName: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly messageCount: number;
  readonly durationSeconds: number;
}
export interface LogPage {
  readonly nodes: readonly LogEntry[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const LOGS = `query Logs($first: Int, $after: String, $filter: LogFilter) {
  logs(first: $first, after: $after, filter: $filter) {
    nodes { id type label createdAt assistantId assistantName status endedReason messageCount durationSeconds }
    pageInfo { hasNextPage endCursor } } }`;

export async function logs(filters: Filters, search: string, after: string | null): Promise<LogPage> {
  const { from, to, assistantId, channel } = filters;
  const filter = { assistantId, type: channel, search, startedAfter: from, startedBefore: to };
  const { logs } = await graphql<{ logs: LogPage }>(LOGS, { first: 15, after, filter });
  return logs;
}

export interface SaidMessage {
  readonly id: string;
  readonly role: "ASSISTANT" | "TOOL" | "USER" | "SYSTEM";
  readonly content?: string;
  readonly metadata?: { readonly failed?: boolean; readonly error?: boolean };
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly toolCallId?: string;
  readonly createdAt: string;
}
export interface Log {
  readonly type: Channel;
  readonly recordingUrl: string;
  readonly messages: { readonly items: readonly SaidMessage[] };
  readonly metadata: {
    readonly status: string;
    readonly endedReason?: string;
    readonly durationSeconds: number;
    readonly phoneNumber?: string;
  };
  readonly createdAt: string;
}

const LOG = `query Log($assistantId: ID!, $id: ID!) {
  log(assistantId: $assistantId, id: $id) { type recordingUrl messages metadata createdAt } }`;

export async function transcript(assistantId: string, id: string): Promise<Log> {
  const { log } = await graphql<{ log: Log }>(LOG, { assistantId, id });
  return log;
}
