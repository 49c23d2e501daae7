import { graphql } from "./api";
import { before, type Filters } from "./filters";
import {
  READ_LOG,
  READ_LOGS,
  READ_STATISTICS,
  type Channel,
  type LogPage,
  type ReadLog,
  type ReadStatistics,
} from "./operations.generated";
import { zone } from "./zone";

export const CHANNELS: readonly Channel[] = ["TEXT", "VOICE", "SMS"];
export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = { TEXT: "Chat", VOICE: "Voice", SMS: "SMS" };

export function statistics({ from, to, assistantId, channel }: Filters): Promise<ReadStatistics> {
  const rest = { assistantId, channel, timezone: zone() };
  return graphql(READ_STATISTICS, {
    now: { from, to, ...rest },
    before: { ...before({ from, to }), ...rest },
    everyone: { from, to },
  });
}

export async function logs(filters: Filters, search: string, after: string | null): Promise<LogPage> {
  const { from, to, assistantId, channel } = filters;
  const startedAfter = new Date(Date.parse(from) - 1).toISOString(); // exclusive; the first moment of the day counts
  const filter = { assistantId, type: channel, search, startedAfter, startedBefore: to };
  const { logs } = await graphql(READ_LOGS, { first: 15, after, filter });
  return logs;
}

export interface LogMessage {
  readonly id: string;
  readonly role: "ASSISTANT" | "TOOL" | "USER" | "SYSTEM";
  readonly content?: string;
  readonly metadata?: { readonly failed?: boolean; readonly error?: boolean; readonly local?: boolean };
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly toolCallId?: string;
  readonly createdAt: string;
}
/** A log, with types for the fields that are untyped objects in the schema. */
export type Log = Omit<NonNullable<ReadLog["log"]>, "messages" | "metadata"> & {
  readonly messages: { readonly items: readonly LogMessage[] };
  readonly metadata: {
    readonly status: string;
    readonly endedReason?: string;
    readonly phoneNumber?: string;
  };
};

export async function transcript(assistantId: string, id: string): Promise<Log> {
  const { log } = await graphql(READ_LOG, { assistantId, id });
  return log as Log;
}
