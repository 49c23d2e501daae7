import { Arg, Ctx, Field, ID, InputType, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import { Keys } from "../../src/account/organization/keys";
import { Deleted } from "../assistants/assistants";
import type { Context } from "../core/context";
import { KeyPermission, KeyStatus, KeyType } from "../core/enums";
import { Extension, NotNull, Rule } from "../core/rules";

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
  @Field(() => KeyType, { description: "SECRET: everything. PUBLIC: what the widget does." })
  type!: "SECRET" | "PUBLIC";
  @Field(() => KeyStatus, { description: "ACTIVE: the key is accepted. INACTIVE: it is refused." })
  status!: "ACTIVE" | "INACTIVE";
  @Field({ description: "Time of creation." })
  createdAt!: Date;
  @Field(() => Date, {
    nullable: true,
    description: "Time of the last use, to the minute; null if it was never used.",
  })
  lastUsedAt!: Date | null;
  @Extension
  @Field(() => String, { nullable: true, description: "Name; null if none was given." })
  name!: string | null;
  @Extension
  @Field(() => Date, {
    nullable: true,
    description: "Time when the key, its tokens and its sessions expire; null: never.",
  })
  expiresAt!: Date | null;
  @Extension
  @Field(() => [ID], {
    nullable: true,
    description:
      "Assistants whose data it reaches; others are to it as if they did not exist, and records of the whole organization are FORBIDDEN. null: all assistants and the organization.",
  })
  assistantIds!: string[] | null;
  @Extension
  @Field(() => [KeyPermission], { nullable: true, description: "Permissions; null: all." })
  permissions!: string[] | null;
}

@InputType({ description: "A new key." })
export class CreateKeyInput {
  @NotNull
  @Field(() => KeyType, { nullable: true, description: "Type; SECRET by default." })
  type?: "SECRET" | "PUBLIC";
  @NotNull
  @Field(() => KeyStatus, { nullable: true, description: "Status; ACTIVE by default." })
  status?: "ACTIVE" | "INACTIVE";
  @Rule({ nullable: false, minLength: 1, maxLength: 255, "x-extension": true })
  @Field({ nullable: true, description: "Name, 1 to 255 characters." })
  name?: string;
  @Rule({ nullable: false, "x-extension": true })
  @Field({ nullable: true, description: "Time of expiry, in the future; never by default." })
  expiresAt?: Date;
  @Rule({ nullable: false, minItems: 1, maxItems: 100, "x-extension": true })
  @Field(() => [ID], {
    nullable: true,
    description: "Assistants whose data it reaches, 1 to 100; all without it.",
  })
  assistantIds?: string[];
  @Rule({ nullable: false, minItems: 1, maxItems: 10, "x-extension": true })
  @Field(() => [KeyPermission], {
    nullable: true,
    description: "Permissions, at least one; all by default. Only the command line grants import.",
  })
  permissions?: ("read" | "write" | "calls" | "keys" | "webhooks" | "import")[];
}

@InputType({ description: "A change of a key." })
export class UpdateKeyInput {
  @Field(() => KeyStatus, { description: "ACTIVE: the key is accepted. INACTIVE: it is refused." })
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

  @Mutation(() => Key, {
    description:
      "Creates a key and shows its value in full. A key with limits creates keys within them: what the input leaves out is as in that key. Errors: ASSISTANT_NOT_FOUND, FORBIDDEN for limits that are wider.",
  })
  createKey(
    @Arg("input", { description: "The new key." }) input: CreateKeyInput,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Keys).create(input, { caller: caller! });
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
  deleteKey(
    @Arg("id", () => ID, { description: "Id of the key." }) id: string,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Keys).remove(id, caller!);
  }
}
