import { ID, InputType } from "type-graphql";
import { Field } from "../core/decorators";
import { Rule } from "../core/rules";

@InputType({ description: "Fact that an assistant of another service remembers about an end user." })
export class ImportEndUserFactInput {
  @Field(() => ID, { description: "Id of the assistant that remembers the fact." })
  assistantId!: string;
  @Rule({ minLength: 1, maxLength: 300 })
  @Field({ description: "The fact, as a sentence; 1 to 300 characters." })
  text!: string;
  @Field({
    description:
      "Whether the fact comes from a conversation with a signed uniqueId. Only signed conversations use such facts; all other conversations use only the other facts.",
  })
  signed!: boolean;
  @Field({ description: "Time when the fact was stored." })
  createdAt!: Date;
}
