import { Arg, Ctx, Field, ID, InputType, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import { Keys } from "../src/organization/keys";
import { Deleted } from "./assistants";
import type { Context } from "./context";
import { KeyStatus, KeyType } from "./enums";
import { NotNull } from "./rules";

@ObjectType({
  description: "An API key of the organization, for the header X-API-Key.",
  simpleResolvers: true,
})
export class Key {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field({
    description:
      "The key itself. A SECRET key is masked unless a SECRET key asks, but for the answer that creates it.",
  })
  value!: string;
  @Field(() => KeyType, { description: "What it may do." })
  type!: "SECRET" | "PUBLIC";
  @Field(() => KeyStatus, { description: "Whether it opens anything now." })
  status!: "ACTIVE" | "INACTIVE";
  @Field({ description: "When it was made." })
  createdAt!: Date;
  @Field(() => Date, { nullable: true, description: "When it was last used, to the minute." })
  lastUsedAt!: Date | null;
}

@InputType({ description: "A new key." })
export class CreateKeyInput {
  @NotNull
  @Field(() => KeyType, { nullable: true, description: "What it may do; SECRET without it." })
  type?: "SECRET" | "PUBLIC";
  @NotNull
  @Field(() => KeyStatus, { nullable: true, description: "Whether it opens anything; ACTIVE without it." })
  status?: "ACTIVE" | "INACTIVE";
}

@InputType({ description: "A change of a key." })
export class UpdateKeyInput {
  @Field(() => KeyStatus, { description: "Whether it shall open anything." })
  status!: "ACTIVE" | "INACTIVE";
}

@Resolver()
export class KeyResolver {
  @Query(() => [Key], { description: "The organization's keys, the newest first." })
  keys(@Ctx() { scope, caller }: Context) {
    return scope.of(Keys).list(caller!);
  }

  @Query(() => Key, { description: "One key. Errors: KEY_NOT_FOUND." })
  key(@Arg("id", () => ID, { description: "Id of the key." }) id: string, @Ctx() { scope, caller }: Context) {
    return scope.of(Keys).byId(id, caller!);
  }

  @Query(() => Key, {
    description: "The newest active PUBLIC key. Errors: KEY_NOT_FOUND where there is none.",
  })
  publicKey(@Ctx() { scope, caller }: Context) {
    return scope.of(Keys).public(caller!);
  }

  @Mutation(() => Key, { description: "Makes a key. Its value is shown in full here." })
  createKey(@Arg("input", { description: "The new key." }) input: CreateKeyInput, @Ctx() { scope }: Context) {
    return scope.of(Keys).create(input);
  }

  @Mutation(() => Key, {
    description: "Switches a key on or off, on every server within a second. Errors: KEY_NOT_FOUND.",
  })
  updateKey(
    @Arg("id", () => ID, { description: "Id of the key." }) id: string,
    @Arg("input", { description: "The change." }) input: UpdateKeyInput,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Keys).update(id, input.status, caller!);
  }

  @Mutation(() => Deleted, { description: "Deletes a key; the tokens behind it end. Errors: KEY_NOT_FOUND." })
  deleteKey(@Arg("id", () => ID, { description: "Id of the key." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Keys).remove(id);
  }
}
