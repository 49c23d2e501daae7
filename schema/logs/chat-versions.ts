import { Ctx, Int, Resolver } from "type-graphql";
import { versionIn } from "../../src/assistants/versions/pins";
import { Versions } from "../../src/assistants/versions/versions";
import { Chats } from "../../src/chats/chats/chats";
import type { Scope } from "../../src/platform/database/scope";
import { AssistantVersion } from "../assistants/versions";
import type { Context } from "../core/context";
import { FieldResolver, Root } from "../core/decorators";
import { Event } from "../events/events";
import { Log } from "./logs";
import { Chat } from "../chats/chats";

const versionOf = (
  scope: Scope,
  { assistantId, assistantVersion }: Pick<Chat, "assistantId" | "assistantVersion">,
) => (assistantVersion === null ? null : scope.of(Versions).find(assistantId, assistantVersion));

@Resolver(() => Chat)
export class ChatVersionResolver {
  @FieldResolver(() => AssistantVersion, {
    nullable: true,
    description:
      "Version of the assistant that the chat runs to its end. For a chat with a draft, the version that the draft is based on. Null if the chat follows the assistant, because it began before versions were kept, or if the version has been removed.",
  })
  version(@Root() chat: Chat, @Ctx() { scope }: Context) {
    return versionOf(scope, chat);
  }

  @FieldResolver(() => Boolean, { description: "Whether the chat runs a draft of the assistant." })
  draft(@Root() { runsDraft }: Chat) {
    return runsDraft;
  }
}

@Resolver(() => Log)
export class LogVersionResolver {
  @FieldResolver(() => AssistantVersion, {
    nullable: true,
    description: "Version of the assistant that answered; null if it is unknown or has been removed.",
  })
  async version(@Root() { id }: Log, @Ctx() { scope }: Context) {
    return versionOf(scope, await scope.of(Chats).ofRecord(id));
  }
}

@Resolver(() => Event)
export class EventVersionResolver {
  @FieldResolver(() => Int, {
    nullable: true,
    description:
      "Number of the version of the assistant that the chat runs; null without a chat, or if the chat follows the assistant.",
  })
  async assistantVersion(@Root() { chatId, companionId }: Event, @Ctx() { scope }: Context) {
    const chat = chatId === null ? undefined : await scope.of(Chats).shared(chatId);
    return chat ? versionIn(chat, companionId) : null;
  }
}
