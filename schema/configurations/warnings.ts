import { Field, ObjectType, registerEnumType } from "type-graphql";
import { Channel } from "../core/enums";

const CODES = {
  PROVIDER_MISMATCH: { description: "The model is another provider's." },
  VOICE_MISMATCH: { description: "The voice is another vendor's." },
  UNKNOWN_IDENTIFIER: { description: "The catalogue no longer has this value for the channel." },
  UNRESOLVED_VARIABLE: { description: "A variable has no test value." },
  FUNCTION_NOT_UNDERSTOOD: { description: "A function has a shape that is never offered to a model." },
  FUNCTION_WITHOUT_SERVER: { description: "A function has no serverUrl that answers it." },
  FILES_WITHOUT_RAG: {
    description:
      "Files are attached to the assistant, and the channel, which is on, gives none of them to a model.",
  },
  RESOURCES_CUT: {
    description:
      "The resources are longer than the 16,000 characters that a model is given where isRagEnabled is off.",
  },
} as const;
const WarningCode = Object.fromEntries(Object.keys(CODES).map((id) => [id, id]));
registerEnumType(WarningCode, {
  name: "ConfigurationWarningCode",
  description: "What kind of thing will not work.",
  valuesConfig: CODES,
});

@ObjectType({
  description: "Something in a configuration that will not work as it stands.",
  simpleResolvers: true,
})
export class ConfigurationWarning {
  @Field(() => Channel, { description: "Whose configuration." })
  channel!: string;
  @Field({ description: "Field of the configuration, with the place in a list: functions.2.description." })
  path!: string;
  @Field(() => WarningCode, { description: "What kind of thing it is." })
  code!: string;
  @Field({ description: "What it is, in a sentence." })
  message!: string;
}
