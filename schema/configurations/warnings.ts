import { ObjectType, registerEnumType } from "type-graphql";
import { Field } from "../core/decorators";
import { Channel } from "../core/enums";

const CODES = {
  PROVIDER_MISMATCH: { description: "The model belongs to another provider." },
  VOICE_MISMATCH: { description: "The voice belongs to another provider." },
  UNKNOWN_IDENTIFIER: { description: "The catalog no longer has this value for the channel." },
  MODEL_SUCCEEDED: {
    description: "The provider has withdrawn the model of this identifier; its closest successor answers.",
  },
  UNRESOLVED_VARIABLE: {
    description: "A variable has no test value, or words in braces are not the name of a variable.",
  },
  FUNCTION_NOT_UNDERSTOOD: {
    description: "A function has an unsupported form and is never offered to a model.",
  },
  FUNCTION_WITHOUT_SERVER: {
    description:
      "A function has no serverUrl that its calls can be sent to: it is missing, misspelled or refused.",
  },
  FILES_WITHOUT_RAG: {
    description:
      "Files are attached to the assistant, but isRagEnabled is false on this enabled channel, so models never get passages from them.",
  },
  RESOURCES_CUT: {
    description:
      "The resources are longer than 16,000 characters, and isRagEnabled is false, so the model gets only the beginning.",
  },
  RAG_SETTING_IGNORED: {
    description:
      "forceRag, ragTriggerTopics or preserveRagResult is set, but has no effect on this enabled channel, because isRagEnabled is false.",
  },
  THEME_VALUE_IGNORED: {
    description: "A value of the theme is invalid: the widget ignores it and shows its default.",
  },
  THEME_KEY_UNKNOWN: {
    description: "The theme has a key that the widget does not know, similar to one that it knows.",
  },
  THEME_VALUE_CUT: {
    description: "A value of the theme is longer or larger than the widget can show.",
  },
} as const;
const WarningCode = Object.fromEntries(Object.keys(CODES).map((id) => [id, id]));
registerEnumType(WarningCode, {
  name: "ConfigurationWarningCode",
  description: "Kind of a configuration warning.",
  valuesConfig: CODES,
});

@ObjectType({
  description: "Setting in a configuration that is valid but won't work.",
  simpleResolvers: true,
})
export class ConfigurationWarning {
  @Field(() => Channel, { description: "Channel of the configuration; TEXT for the theme of the widget." })
  channel!: string;
  @Field({
    description:
      "Path of the field in the configuration; list items by index, for example functions.2.description or theme.primaryColor.",
  })
  path!: string;
  @Field(() => WarningCode, { description: "Kind of the warning." })
  code!: string;
  @Field({ description: "Explanation, as a sentence." })
  message!: string;
}
