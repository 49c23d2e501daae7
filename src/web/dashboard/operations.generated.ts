// Generated from operations.graphql and the schema by `npm run docs`.
import type { TypedDocument } from "../typed-document";
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> =
  T | { [P in keyof T]?: P extends " $fragmentName" | "__typename" ? T[P] : never };
/** Selection of conversations: those that started in a period and match all filters. */
export type AnalyticsInput = {
  /** Only conversations with this assistant, which may be deleted. */
  readonly assistantId?: string | null | undefined;
  /** Only conversations on this channel. */
  readonly channel?: Channel | null | undefined;
  /** Start of the period (inclusive). Default: 30 days before `to`. */
  readonly from?: string | null | undefined;
  /** Only conversations with assistants of this project. */
  readonly projectId?: string | null | undefined;
  /** Time zone of the days: an IANA name such as Europe/Zurich, 1 to 64 characters. Default: UTC. */
  readonly timezone?: string | null | undefined;
  /** End of the period (exclusive), at most 400 days after `from`. Default: now. */
  readonly to?: string | null | undefined;
};

/** Channel of a conversation. */
export type Channel =
  /** SMS. */
  | "SMS"
  /** Text chats. */
  | "TEXT"
  /** Telephone calls and calls from web pages. */
  | "VOICE";

/** Conditions for logs; all must hold. */
export type LogFilter = {
  /** Only chats with this assistant, which may be deleted. */
  readonly assistantId?: string | null | undefined;
  /** Only chats that this version of the assistant answered, given by its number, from 1; requires assistantId. A chat with a draft counts for the version that the draft changes. deleteLogs refuses this condition. */
  readonly assistantVersion?: number | null | undefined;
  /** Text to search for, at most 1,000 characters; case-insensitive. It is a part of the label, of a message, of the name or an id of the person, or of a key or value in the metadata supplied by the client. */
  readonly search?: string | null | undefined;
  /** Only chats started after this time (exclusive). */
  readonly startedAfter?: string | null | undefined;
  /** Only chats started before this time (exclusive). */
  readonly startedBefore?: string | null | undefined;
  /** Only chats on this channel. */
  readonly type?: Channel | null | undefined;
};

/** Reason why a question is unanswered. */
export type UnansweredReason =
  /** Generating the answer failed. */
  | "ERROR"
  /** The assistant said that it doesn't know. */
  | "NOT_KNOWN"
  /** The conversation ended before an answer. */
  | "NO_ANSWER";

export type Totals = {
  readonly conversations: number;
  readonly live: number;
  readonly messages: number;
  readonly averageMessages: number | null;
  readonly averageSeconds: number | null;
  readonly questions: number;
  readonly unanswered: number;
  readonly answerTimes: {
    readonly count: number;
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
    readonly buckets: ReadonlyArray<Bucket>;
  };
};

export type Bucket = { readonly from: number; readonly to: number | null; readonly count: number };

export type FunctionUse = {
  readonly name: string;
  readonly calls: number;
  readonly succeeded: number;
  readonly failed: number;
};

export type AssistantUse = {
  readonly assistantId: string;
  readonly name: string;
  readonly deleted: boolean;
  readonly conversations: number;
  readonly messages: number;
  readonly questions: number;
  readonly unanswered: number;
};

export type Question = {
  readonly messageId: string;
  readonly chatId: string;
  readonly assistantId: string;
  readonly channel: Channel;
  readonly question: string;
  readonly answer: string | null;
  readonly reason: UnansweredReason;
  readonly askedAt: string;
};

export type Deliveries = {
  readonly deliveries: number;
  readonly delivered: number;
  readonly failed: number;
  readonly pending: number;
  readonly retried: number;
  readonly medianMs: number | null;
};

export type Compared = {
  readonly totals: Totals;
  readonly functions: ReadonlyArray<FunctionUse>;
  readonly webhooks: Deliveries;
};

export type Statistics = {
  readonly days: ReadonlyArray<{
    readonly date: string;
    readonly conversations: number;
    readonly messages: number;
    readonly answerTimes: {
      readonly count: number;
      readonly p50Ms: number | null;
      readonly p95Ms: number | null;
    };
    readonly channels: ReadonlyArray<{ readonly channel: Channel; readonly conversations: number }>;
  }>;
  readonly assistants: ReadonlyArray<AssistantUse>;
  readonly endReasons: ReadonlyArray<{ readonly reason: string; readonly conversations: number }>;
  readonly lengths: { readonly messages: ReadonlyArray<Bucket>; readonly seconds: ReadonlyArray<Bucket> };
  readonly unansweredQuestions: ReadonlyArray<Question>;
  readonly webhooks: {
    readonly days: ReadonlyArray<{
      readonly date: string;
      readonly deliveries: number;
      readonly delivered: number;
      readonly failed: number;
      readonly pending: number;
      readonly retried: number;
      readonly medianMs: number | null;
    }>;
  };
  readonly failingDestinations: ReadonlyArray<{
    readonly id: string;
    readonly name: string | null;
    readonly host: string;
    readonly enabled: boolean;
    readonly failingSince: string | null;
    readonly failures: number;
  }>;
} & Compared;

export type ReadStatisticsVariables = Exact<{
  now: AnalyticsInput;
  before: AnalyticsInput;
  everyone: AnalyticsInput;
}>;

export type ReadStatistics = {
  readonly now: Statistics;
  readonly before: Compared;
  readonly everyone: {
    readonly assistants: ReadonlyArray<{ readonly assistantId: string; readonly name: string }>;
  };
};

export type LogEntry = {
  readonly id: string;
  readonly type: Channel;
  readonly label: string;
  readonly createdAt: string;
  readonly assistantId: string;
  readonly assistantName: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly messageCount: number;
  readonly lengthSeconds: number | null;
};

export type LogPage = {
  readonly nodes: ReadonlyArray<LogEntry>;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
};

export type ReadLogsVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: LogFilter | null | undefined;
}>;

export type ReadLogs = { readonly logs: LogPage };

export type ReadLogVariables = Exact<{
  assistantId: string;
  id: string;
}>;

export type ReadLog = {
  readonly log: {
    readonly type: Channel;
    readonly recordingUrl: string;
    readonly messages: Readonly<Record<string, unknown>>;
    readonly metadata: Readonly<Record<string, unknown>>;
    readonly lengthSeconds: number | null;
    readonly createdAt: string;
  } | null;
};

export type AnalyticsToken = {
  readonly token: string;
  readonly expiresAt: string;
  readonly expiresIn: number;
  readonly renewableUntil: string;
};

export type IssueAnalyticsTokenVariables = Exact<{ [key: string]: never }>;

export type IssueAnalyticsToken = { readonly issueAnalyticsToken: AnalyticsToken | null };

export const READ_STATISTICS =
  "query ReadStatistics($now:AnalyticsInput!$before:AnalyticsInput!$everyone:AnalyticsInput!){now:analytics(input:$now){totals{conversations live messages averageMessages averageSeconds questions unanswered answerTimes{count p50Ms p95Ms buckets{from to count}}}functions{name calls succeeded failed}webhooks{deliveries delivered failed pending retried medianMs}days{date conversations messages answerTimes{count p50Ms p95Ms}channels{channel conversations}}assistants{assistantId name deleted conversations messages questions unanswered}endReasons{reason conversations}lengths{messages{from to count}seconds{from to count}}unansweredQuestions(first:10){messageId chatId assistantId channel question answer reason askedAt}webhooks{days{date deliveries delivered failed pending retried medianMs}}failingDestinations{id name host enabled failingSince failures}}before:analytics(input:$before){totals{conversations live messages averageMessages averageSeconds questions unanswered answerTimes{count p50Ms p95Ms buckets{from to count}}}functions{name calls succeeded failed}webhooks{deliveries delivered failed pending retried medianMs}}everyone:analytics(input:$everyone){assistants{assistantId name}}}" as TypedDocument<
    ReadStatistics,
    ReadStatisticsVariables
  >;

export const READ_LOGS =
  "query ReadLogs($first:Int$after:String$filter:LogFilter){logs(first:$first after:$after filter:$filter){nodes{id type label createdAt assistantId assistantName status endedReason messageCount lengthSeconds}pageInfo{hasNextPage endCursor}}}" as TypedDocument<
    ReadLogs,
    ReadLogsVariables
  >;

export const READ_LOG =
  "query ReadLog($assistantId:ID!$id:ID!){log(assistantId:$assistantId id:$id){type recordingUrl messages metadata lengthSeconds createdAt}}" as TypedDocument<
    ReadLog,
    ReadLogVariables
  >;

export const ISSUE_ANALYTICS_TOKEN =
  "mutation IssueAnalyticsToken{issueAnalyticsToken{token expiresAt expiresIn renewableUntil}}" as TypedDocument<
    IssueAnalyticsToken,
    IssueAnalyticsTokenVariables
  >;
