import { Args, ArgsType, Ctx, ID, Resolver } from "type-graphql";
import { Configurations } from "../../src/assistants/configurations/configurations";
import { THEME } from "./texts";
import { ThemeConfiguration } from "./configurations";
import type { Context } from "../core/context";
import { Field, Mutation } from "../core/decorators";
import { Rule } from "../core/rules";

@ArgsType()
class AllowedOriginsArgs {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Rule({ maxItems: 50 })
  @Field(() => [String], { description: THEME.allowedOrigins })
  origins!: string[];
}

@Resolver()
export class AllowedOriginsResolver {
  @Mutation(() => ThemeConfiguration, {
    description:
      "Sets the web pages that may show an assistant's widget. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.",
  })
  updateAllowedOrigins(@Args() { assistantId, origins }: AllowedOriginsArgs, @Ctx() { scope }: Context) {
    return scope.of(Configurations).allowOrigins(assistantId, origins);
  }
}
