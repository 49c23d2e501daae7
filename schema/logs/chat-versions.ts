import { Ctx, Int, Resolver } from "type-graphql";
import { versionIn } from "../../src/assistants/versions/pins";
import { Versions } from "../../src/assistants/versions/versions";
import { Chats } from "../../src/chats/chats/chats";
import type { Scope } from "../../src/platform/database/scope";
import { AssistantVersion } from "../assistants/versions";
import type { Context } from "../core/context";
import { FieldResolver, Root } from "../core/decorators";
import { nullIf } from "../core/null-if";
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
      "Version of the assistant that the chat uses until it ends. With a draft, the version that was current when the chat began, to which the draft applies. Null if the chat follows the assistant, because it began before versions were kept, or if the version has been removed.",
  })
  version(@Root() chat: Chat, @Ctx() { scope }: Context) {
    return versionOf(scope, chat);
  }

  @FieldResolver(() => [AssistantVersion], {
    description:
      "Versions of all assistants that speak in the chat: of a workflow, one for each of its assistants. Empty if the chat follows the assistant. Removed versions are left out, as are those of assistants that the key cannot access or that an import has not brought.",
  })
  async versions(
    @Root() { assistantId, assistantVersion, speakerVersions }: Chat,
    @Ctx() { scope }: Context,
  ) {
    const own = assistantVersion === null ? {} : { [assistantId]: assistantVersion };
    const numbers: Readonly<Record<string, number>> = speakerVersions ?? own;
    const found = await Promise.all(
      Object.entries(numbers).map(([id, number]) =>
        scope.of(Versions).find(id, number).catch(nullIf("ASSISTANT_NOT_FOUND")),
      ),
    );
    return found.filter((version) => version != null);
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
