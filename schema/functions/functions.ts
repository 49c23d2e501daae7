import { Args, ArgsType, Ctx, ID, Int, ObjectType, Resolver } from "type-graphql";
import { testFunction } from "../../src/conversation/functions/test-function";
import type { Context } from "../core/context";
import { Field, Mutation } from "../core/decorators";
import { Deadline } from "../core/deadline";
import { Channel } from "../core/enums";
import { JSONObject } from "../core/scalars";

@ObjectType({ description: "Result of a test call of a function.", simpleResolvers: true })
export class FunctionTest {
  @Field(() => JSONObject, {
    nullable: true,
    description: "Request that was sent: {url, body}; null if none was sent.",
  })
  request!: Record<string, unknown> | null;
  @Field(() => Int, { nullable: true, description: "HTTP status of the response; null if there was none." })
  status!: number | null;
  @Field({ description: "Text that the model would get." })
  response!: string;
  @Field({ description: "Whether the call failed." })
  failed!: boolean;
  @Field(() => Int, { description: "Duration in milliseconds." })
  durationMs!: number;
}

@ArgsType()
class TestFunctionArgs {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Field(() => Channel, { description: "Channel of the configuration that declares the function." })
  channel!: "VOICE" | "TEXT" | "SMS";
  @Field({ description: "Name of the function." })
  name!: string;
  @Field(() => JSONObject, { description: "Arguments of the function." })
  arguments!: Record<string, unknown>;
}

@Resolver()
export class FunctionResolver {
  @Deadline(25_000)
  @Mutation(() => FunctionTest, {
    description:
      "Calls a function of a configuration as a model would, outside of any chat. Errors: ASSISTANT_NOT_FOUND, FUNCTION_NOT_FOUND.",
  })
  testFunction(@Args() args: TestFunctionArgs, @Ctx() { scope }: Context) {
    return testFunction(scope, args);
  }
}
