import { Arg, Ctx, Field, InputType, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import { ModelCredentials } from "../../src/account/organization/model-credentials";
import type { Context } from "../core/context";
import { TextProvider } from "../core/enums";
import { Rule } from "../core/rules";

@ObjectType({ description: "What an organization uses for a vendor of text models.", simpleResolvers: true })
export class ModelCredential {
  @Field(() => TextProvider, { description: "The vendor." })
  provider!: string;
  @Field(() => String, { nullable: true, description: "The end of the key, to recognize it by." })
  keyHint!: string | null;
  @Field(() => String, { nullable: true, description: "Address that is asked instead of the vendor's own." })
  baseUrl!: string | null;
  @Field({ description: "When it was set." })
  updatedAt!: Date;
}

@InputType({
  description: "What to use for a vendor. With neither key nor address the organization's own is forgotten.",
})
export class ModelCredentialInput {
  @Field(() => TextProvider, { description: "The vendor." })
  provider!: string;
  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String, { nullable: true, description: "The key; stored encrypted and never shown again." })
  apiKey?: string | null;
  @Rule({ minLength: 1, maxLength: 2048 })
  @Field(() => String, {
    nullable: true,
    description: "An http or https address that speaks the vendor's protocol.",
  })
  baseUrl?: string | null;
}

@Resolver()
export class ModelCredentialResolver {
  @Query(() => [ModelCredential], { description: "What the organization uses for vendors of text models." })
  modelCredentials(@Ctx() { scope }: Context) {
    return scope.of(ModelCredentials).list();
  }

  @Mutation(() => ModelCredential, {
    description: "Sets the organization's own key or address for a vendor.",
  })
  setModelCredential(
    @Arg("input", { description: "What to use." }) { provider, apiKey, baseUrl }: ModelCredentialInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(ModelCredentials).set(provider, apiKey ?? null, baseUrl ?? null);
  }
}
