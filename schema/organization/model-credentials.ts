import { Arg, Ctx, ID, InputType, ObjectType, Resolver } from "type-graphql";
import { ModelCredentials } from "../../src/account/organization/model-credentials";
import type { Context } from "../core/context";
import { Field, Mutation, Query } from "../core/decorators";
import { TextProvider } from "../core/enums";
import { Rule } from "../core/rules";

@ObjectType({
  description: "The organization's own API key and base URL for a provider of text models.",
  simpleResolvers: true,
})
export class ModelCredential {
  @Field(() => ID, { description: "The provider's identifier: an organization has one credential for each." })
  id!: string;
  @Field(() => TextProvider, { description: "Provider of text models." })
  provider!: string;
  @Field(() => String, {
    nullable: true,
    description: "Last characters of the API key; null if none is set.",
  })
  keyHint!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "Base URL used instead of the provider's; null if none is set.",
  })
  baseUrl!: string | null;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
}

@InputType({
  description: "API key and base URL for a provider. Omit both to delete the stored ones.",
})
export class ModelCredentialInput {
  @Field(() => TextProvider, { description: "Provider of text models." })
  provider!: string;
  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String, {
    nullable: true,
    description: "API key, 1 to 500 characters. It is stored encrypted and never shown again.",
  })
  apiKey?: string | null;
  @Rule({ minLength: 1, maxLength: 2048 })
  @Field(() => String, {
    nullable: true,
    description: "An http or https URL that implements the provider's API, 1 to 2,048 characters.",
  })
  baseUrl?: string | null;
}

@Resolver()
export class ModelCredentialResolver {
  @Query(() => [ModelCredential], {
    description: "Lists the organization's own API keys and base URLs for providers of text models.",
  })
  modelCredentials(@Ctx() { scope }: Context) {
    return scope.of(ModelCredentials).list();
  }

  @Mutation(() => ModelCredential, {
    description: "Sets the organization's own API key and base URL for a provider, replacing both.",
  })
  setModelCredential(
    @Arg("input", { description: "API key and base URL." })
    { provider, apiKey, baseUrl }: ModelCredentialInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(ModelCredentials).set(provider, apiKey ?? null, baseUrl ?? null);
  }
}
