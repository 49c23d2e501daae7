import { Arg, Args, Ctx, ID, InputType, ObjectType, Resolver } from "type-graphql";
import { Keys } from "../../src/account/organization/keys";
import { Deleted } from "../assistants/assistants";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, Mutation, Query } from "../core/decorators";
import { KeyPermission, KeyStatus, KeyType } from "../core/enums";
import { Extension, NotNull, Rule } from "../core/rules";

@ObjectType({
  implements: Node,
  description: "API key of the organization, for the header X-API-Key.",
  simpleResolvers: true,
})
export class Key {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field({
    description:
      "Value of the key. Values of SECRET keys are masked, except for callers with a SECRET key and in the response of createKey.",
  })
  value!: string;
  @Field(() => KeyType, {
    description: "SECRET: the key may run all operations. PUBLIC: only those that the widget needs.",
  })
  type!: "SECRET" | "PUBLIC";
  @Field(() => KeyStatus, { description: "ACTIVE: the key is accepted. INACTIVE: it is refused." })
  status!: "ACTIVE" | "INACTIVE";
  @Field({ description: "Creation time." })
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
      "Ids of the assistants whose data the key may access. Other assistants appear not to exist, and access to records of the whole organization is FORBIDDEN. null: all assistants and the whole organization.",
  })
  assistantIds!: readonly string[] | null;
  @Extension
  @Field(() => [KeyPermission], { nullable: true, description: "Permissions; null: all." })
  permissions!: readonly string[] | null;
}

@InputType({ description: "New key." })
export class CreateKeyInput {
  @NotNull
  @Field(() => KeyType, { nullable: true, description: "Type. Default: SECRET." })
  type?: "SECRET" | "PUBLIC";
  @NotNull
  @Field(() => KeyStatus, { nullable: true, description: "Status. Default: ACTIVE." })
  status?: "ACTIVE" | "INACTIVE";
  @Rule({ nullable: false, minLength: 1, maxLength: 255, "x-extension": true })
  @Field({ nullable: true, description: "Name, 1 to 255 characters." })
  name?: string;
  @Rule({ nullable: false, "x-extension": true })
  @Field({ nullable: true, description: "Expiry time, in the future. Default: never." })
  expiresAt?: Date;
  @Rule({ nullable: false, minItems: 1, maxItems: 100, "x-extension": true })
  @Field(() => [ID], {
    nullable: true,
    description: "Ids of the assistants whose data the key may access, 1 to 100. Default: all.",
  })
  assistantIds?: string[];
  @Rule({ nullable: false, minItems: 1, maxItems: 10, "x-extension": true })
  @Field(() => [KeyPermission], {
    nullable: true,
    description: "Permissions, at least one. Default: all. Only the command line grants `import`.",
  })
  permissions?: ("read" | "write" | "calls" | "keys" | "webhooks" | "import")[];
}

@InputType({ description: "Changes to a key." })
export class UpdateKeyInput {
  @Field(() => KeyStatus, { description: "ACTIVE: the key is accepted. INACTIVE: it is refused." })
  status!: "ACTIVE" | "INACTIVE";
}

const KeyConnection = ConnectionOf(() => Key, "Key");

@Resolver()
export class KeyResolver {
  @Query(() => [Key], { description: "Lists the organization's keys, newest first." })
  keys(@Ctx() { scope, caller }: Context) {
    return scope.of(Keys).list(caller!);
  }

  @Query(() => KeyConnection, {
    description: "Lists the organization's keys, in pages.",
  })
  keysConnection(@Args() query: ConnectionArgs, @Ctx() { scope, caller }: Context) {
    return scope.of(Keys).connection(query, caller!);
  }

  @Query(() => Key, { description: "Returns a key. Errors: KEY_NOT_FOUND." })
  key(@Arg("id", () => ID, { description: "Id of the key." }) id: string, @Ctx() { scope, caller }: Context) {
    return scope.of(Keys).byId(id, caller!);
  }

  @Query(() => Key, {
    nullable: true,
    description: "Returns the newest active PUBLIC key. Errors: KEY_NOT_FOUND if there is none.",
  })
  publicKey(@Ctx() { scope, caller }: Context) {
    return scope.of(Keys).public(caller!);
  }

  @Mutation(() => Key, {
    description:
      "Creates a key and returns its full value. A key with limits can only create keys within its own limits, which are the defaults of omitted fields. Errors: ASSISTANT_NOT_FOUND, FORBIDDEN if the limits are wider.",
  })
  createKey(
    @Arg("input", { description: "The new key." }) input: CreateKeyInput,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Keys).create(input, { caller: caller! });
  }

  @Mutation(() => Key, {
    description: "Activates or deactivates a key, on every server within one second. Errors: KEY_NOT_FOUND.",
  })
  updateKey(
    @Arg("id", () => ID, { description: "Id of the key." }) id: string,
    @Arg("input", { description: "Changes to apply." }) input: UpdateKeyInput,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Keys).update(id, input.status, caller!);
  }

  @Mutation(() => Deleted, { description: "Deletes a key and revokes its tokens. Errors: KEY_NOT_FOUND." })
  deleteKey(
    @Arg("id", () => ID, { description: "Id of the key." }) id: string,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Keys).remove(id, caller!);
  }
}
