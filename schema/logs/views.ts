import { Ctx, Resolver } from "type-graphql";
import { Chats } from "../../src/chats/chats/chats";
import { Logs } from "../../src/chats/logs/logs";
import { Call } from "../calls/calls";
import { Chat } from "../chats/chats";
import type { Context } from "../core/context";
import { FieldResolver, Root } from "../core/decorators";
import { CountsAs } from "../core/counts-as";
import { Selected } from "../core/selected";
import { LogEntry } from "./all-logs";
import { Log, LogListItem } from "./logs";

/*
 * One conversation has up to three views with the same id: its chat, its log and, if it was spoken, its call.
 */

const CHAT_OF_LOG = { description: "Chat of the log: the same conversation, with the same id." } as const;
const LOG = {
  nullable: true,
  description:
    "Log of the conversation, with the same id; null while it is live, or if the log was deleted. Costs as much as 40 messages.",
} as const;

const logOf = (id: string, { scope }: Context, selected: readonly string[]) =>
  scope.of(Logs).ofChat(id, selected.includes("messages"));

@Resolver(() => Log)
export class LogChatResolver {
  @FieldResolver(() => Chat, CHAT_OF_LOG)
  chat(@Root() { id }: Log, @Ctx() { scope }: Context) {
    return scope.of(Chats).ofRecord(id);
  }
}

@Resolver(() => LogListItem)
export class LogListItemChatResolver {
  @FieldResolver(() => Chat, CHAT_OF_LOG)
  chat(@Root() { id }: LogListItem, @Ctx() { scope }: Context) {
    return scope.of(Chats).ofRecord(id);
  }
}

@Resolver(() => LogEntry)
export class LogEntryChatResolver {
  @FieldResolver(() => Chat, CHAT_OF_LOG)
  chat(@Root() { id }: LogEntry, @Ctx() { scope }: Context) {
    return scope.of(Chats).ofRecord(id);
  }
}

@Resolver(() => Chat)
export class ChatLogResolver {
  @CountsAs(40)
  @FieldResolver(() => Log, LOG)
  log(@Root() { id }: Chat, @Ctx() context: Context, @Selected() selected: readonly string[]) {
    return logOf(id, context, selected);
  }
}

@Resolver(() => Call)
export class CallLogResolver {
  @CountsAs(40)
  @FieldResolver(() => Log, LOG)
  log(@Root() { id }: Call, @Ctx() context: Context, @Selected() selected: readonly string[]) {
    return logOf(id, context, selected);
  }
}
