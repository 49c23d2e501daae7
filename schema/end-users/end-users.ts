import { Arg, Args, Ctx, ID, ObjectType, Resolver } from "type-graphql";
import { Chats } from "../../src/chats/chats/chats";
import { EndUsers } from "../../src/chats/chats/end-users";
import { Chat, ChatConnection } from "../chats/chats";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query, Root } from "../core/decorators";
import { DateTime } from "../core/scalars";

@ObjectType({ description: "Fact that an assistant remembers about an end user.", simpleResolvers: true })
export class EndUserFact {
  @Field({ description: "The fact, as a sentence." })
  text!: string;
  @Field(() => ID, { description: "Id of the assistant that remembers the fact." })
  assistantId!: string;
  @Field(() => Boolean, {
    nullable: true,
    description:
      "Whether the fact comes from a conversation with a signed uniqueId. Only signed conversations use such facts; all other conversations use only the other facts. Null if an older release stored it.",
  })
  signed!: boolean | null;
  @Field(() => DateTime, { description: "Time when the fact was stored." })
  createdAt!: string;
}

@ObjectType({ implements: Node, description: "Person whom assistants remember.", simpleResolvers: true })
export class EndUser {
  @Field(() => ID, { description: "Opaque id." })
  id!: string;
  @Field({ description: "Your id for the end user." })
  uniqueId!: string;
  @Field(() => [EndUserFact], { description: "Remembered facts, oldest first." })
  facts!: readonly EndUserFact[];
}

const EndUserConnection = ConnectionOf(() => EndUser, "EndUser");

@Resolver(() => EndUser)
export class EndUserResolver {
  @FieldResolver(() => ChatConnection, { description: "Chats with the end user, newest first." })
  chats(@Root() { uniqueId }: EndUser, @Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).where({ uniqueId }, query);
  }

  @Query(() => EndUser, {
    nullable: true,
    description: "Returns what assistants remember about an end user; null if no assistant remembers them.",
  })
  endUser(
    @Arg("uniqueId", { description: "Your id for the end user." }) uniqueId: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(EndUsers).find(uniqueId);
  }

  @Query(() => EndUserConnection, {
    description:
      "Lists the end users whom assistants remember, by the time when an assistant first met them.",
  })
  endUsers(@Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(EndUsers).list(query);
  }

  @Mutation(() => String, {
    description:
      "Returns the organization's identity secret: the HMAC-SHA-256 key for signatures of uniqueId. Requires a SECRET key, because the secret outlives every token.",
  })
  identitySecret(@Ctx() { scope }: Context) {
    return scope.of(EndUsers).identitySecret();
  }
}

@Resolver(() => Chat)
export class ChatUserResolver {
  @FieldResolver(() => EndUser, {
    nullable: true,
    description: "End user whom the assistant remembers; null if the chat was started without a uniqueId.",
  })
  user(@Root() { uniqueId }: Chat, @Ctx() { scope }: Context) {
    return uniqueId === null ? null : scope.of(EndUsers).find(uniqueId);
  }
}
