import { Arg, Ctx, ID, InputType, Int, ObjectType, Resolver } from "type-graphql";
import { ModelMappings } from "../../src/account/organization/model-mappings";
import { TEST_MESSAGE, testModel } from "../../src/account/organization/test-model";
import type { Context } from "../core/context";
import { Deadline } from "../core/deadline";
import { Field, Mutation, Query } from "../core/decorators";
import { ModelIdentifier, TextProvider } from "../core/enums";
import { Rule } from "../core/rules";

@ObjectType({
  description: "The organization's own server, model and API key for a model identifier.",
  simpleResolvers: true,
})
export class ModelMapping {
  @Field(() => ID, { description: "The model's identifier: an organization has one mapping for each." })
  id!: string;
  @Field(() => ModelIdentifier, { description: "Identifier that configurations use." })
  model!: string;
  @Field({ description: "The server's own name of the model that answers." })
  name!: string;
  @Field(() => TextProvider, {
    nullable: true,
    description: "Provider of the model; null if baseUrl is set.",
  })
  provider!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "Base URL of the OpenAI-compatible server; null if provider is set.",
  })
  baseUrl!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "Last characters of the API key; null if none is set.",
  })
  keyHint!: string | null;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
}

@InputType({
  description:
    "Server, model and API key for a model identifier. Set name and either provider or baseUrl; set neither to delete the mapping.",
})
export class ModelMappingInput {
  @Field(() => ModelIdentifier, { description: "Identifier that configurations use." })
  model!: string;
  @Rule({ minLength: 1, maxLength: 200 })
  @Field(() => String, {
    nullable: true,
    description: "The server's own name of the model that answers, such as llama3.2; 1 to 200 characters.",
  })
  name?: string | null;
  @Field(() => TextProvider, {
    nullable: true,
    description:
      "Provider that answers, with the credential from setModelCredential or the server's settings unless apiKey is set.",
  })
  provider?: string | null;
  @Rule({ minLength: 1, maxLength: 2048 })
  @Field(() => String, {
    nullable: true,
    description:
      "Base URL of a server with OpenAI's chat completions, such as https://openrouter.ai/api/v1; 1 to 2,048 characters. Private addresses need the operator's consent (OUTBOUND_ALLOW).",
  })
  baseUrl?: string | null;
  @Rule({ minLength: 1, maxLength: 500 })
  @Field(() => String, {
    nullable: true,
    description: "API key, 1 to 500 characters. It is stored encrypted and never shown again.",
  })
  apiKey?: string | null;
}

@InputType({ description: "Test request to a model." })
export class TestModelInput {
  @Field(() => ModelIdentifier, { description: "Identifier that configurations use." })
  model!: string;
  @Rule({ nullable: false, minLength: 1, maxLength: 2000 })
  @Field({ defaultValue: TEST_MESSAGE, description: "Message to the model, 1 to 2,000 characters." })
  message!: string;
}

@ObjectType({ description: "Result of a test request to a model.", simpleResolvers: true })
export class ModelTest {
  @Field({ description: "Provider that was asked, or host of the mapping's base URL." })
  provider!: string;
  @Field({ description: "Model name that was sent." })
  name!: string;
  @Field({ description: "Whether a model is connected; if not, answers are looked up locally." })
  connected!: boolean;
  @Field(() => String, { nullable: true, description: "Answer of the model; null if the request failed." })
  text!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "Error of the provider or why none was asked; null if it answered.",
  })
  error!: string | null;
  @Field(() => Int, { description: "Time until the end of the answer or the error, in milliseconds." })
  durationMs!: number;
}

@Resolver()
export class ModelMappingResolver {
  @Query(() => [ModelMapping], {
    description: "Lists the organization's own servers and models for model identifiers.",
  })
  modelMappings(@Ctx() { scope }: Context) {
    return scope.of(ModelMappings).list();
  }

  @Mutation(() => ModelMapping, {
    nullable: true,
    description:
      "Sets the server and model that answer for a model identifier, from the next answer on, replacing an earlier mapping. Without a name it deletes the mapping and returns null.",
  })
  setModelMapping(
    @Arg("input", { description: "Identifier, server and model." })
    { model, ...input }: ModelMappingInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(ModelMappings).set(model, input);
  }

  @Deadline(25_000)
  @Mutation(() => ModelTest, {
    description:
      "Sends a message to the model that answers for an identifier, outside of any chat, and waits up to 20 s for its answer.",
  })
  testModel(
    @Arg("input", { description: "Identifier and message." }) { model, message }: TestModelInput,
    @Ctx() { scope }: Context,
  ) {
    return testModel(scope, model, message);
  }
}
