import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
import { Chats } from "../../src/chats/chats/chats";
import { EndUsers } from "../../src/chats/chats/end-users";
import { Chat, ChatConnection } from "../chats/chats";
import { ConnectionArgs } from "../core/connection";
import type { Context } from "../core/context";

@ObjectType({ description: "Something an assistant remembers of a person.", simpleResolvers: true })
export class EndUserFact {
  @Field({ description: "The fact, in a sentence." })
  text!: string;
  @Field(() => ID, { description: "The assistant that keeps it." })
  assistantId!: string;
  @Field({ description: "When it was kept, ISO 8601." })
  createdAt!: string;
}

@ObjectType({ description: "A person whom assistants remember.", simpleResolvers: true })
export class EndUser {
  @Field(() => ID, { description: "Opaque." })
  id!: string;
  @Field({ description: "Your id of the person." })
  uniqueId!: string;
  @Field(() => [EndUserFact], { description: "What is known, the oldest first." })
  facts!: EndUserFact[];
}

@Resolver(() => EndUser)
export class EndUserResolver {
  @FieldResolver(() => ChatConnection, { description: "The person's chats, the newest first." })
  chats(@Root() { uniqueId }: EndUser, @Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(Chats).where({ uniqueId }, query);
  }

  @Query(() => EndUser, {
    nullable: true,
    description: "What assistants remember of a person; null where nobody has met them.",
  })
  endUser(
    @Arg("uniqueId", { description: "Your id of the person." }) uniqueId: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(EndUsers).find(uniqueId);
  }

  @Mutation(() => String, {
    description: "The organization's identity secret: HMAC with SHA-256 under it signs a uniqueId.",
  })
  identitySecret(@Ctx() { scope }: Context) {
    return scope.of(EndUsers).identitySecret();
  }
}

@Resolver(() => Chat)
export class ChatUserResolver {
  @FieldResolver(() => EndUser, {
    nullable: true,
    description: "The person whom the assistant remembers, where the chat was started with a uniqueId.",
  })
  user(@Root() { uniqueId }: Chat, @Ctx() { scope }: Context) {
    return uniqueId === null ? null : scope.of(EndUsers).find(uniqueId);
  }
}
