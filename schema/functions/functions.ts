import { Args, ArgsType, Ctx, Field, ID, Int, Mutation, ObjectType, Resolver } from "type-graphql";
import { testFunction } from "../../src/conversation/functions/test-function";
import type { Context } from "../core/context";
import { Deadline } from "../core/deadline";
import { Channel } from "../core/enums";
import { JSONObject } from "../core/scalars";

@ObjectType({ description: "How a function answered in a test.", simpleResolvers: true })
export class FunctionTest {
  @Field(() => JSONObject, {
    nullable: true,
    description: "What was sent: {url, body}; null when nothing was.",
  })
  request!: Record<string, unknown> | null;
  @Field(() => Int, { nullable: true, description: "HTTP status of the answer." })
  status!: number | null;
  @Field({ description: "What the model would be told." })
  response!: string;
  @Field({ description: "Whether it failed." })
  failed!: boolean;
  @Field(() => Int, { description: "How long it took, in milliseconds." })
  durationMs!: number;
}

@ArgsType()
class TestFunctionArgs {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Field(() => Channel, { description: "The channel whose configuration has the function." })
  channel!: "VOICE" | "TEXT" | "SMS";
  @Field({ description: "Name of the function." })
  name!: string;
  @Field(() => JSONObject, { description: "Its arguments." })
  arguments!: Record<string, unknown>;
}

@Resolver()
export class FunctionResolver {
  @Deadline(25_000)
  @Mutation(() => FunctionTest, {
    description:
      "Calls a function of a configuration as a model would. Errors: ASSISTANT_NOT_FOUND, FUNCTION_NOT_FOUND.",
  })
  testFunction(@Args() args: TestFunctionArgs, @Ctx() { scope }: Context) {
    return testFunction(scope, args);
  }
}
