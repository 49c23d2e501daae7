import { InputType, Int } from "type-graphql";
import { AssistantDraftInput } from "../assistants/drafts";
import { MAX_NOTE_LENGTH } from "../assistants/versions";
import { Field } from "../core/decorators";
import { Rule } from "../core/rules";

/** `user:` and the longest id of a user. */
const MAX_ACTOR_LENGTH = 4_101;

@InputType({ description: "Number, author, time and note of a version of an assistant of another service." })
export class ImportVersionInput {
  @Rule({ minimum: 1 })
  @Field(() => Int, { description: "Number of the version, at least 1." })
  number!: number;
  @Rule({ maxLength: MAX_NOTE_LENGTH })
  @Field(() => String, { nullable: true, description: "Note, at most 1,000 characters. Default: none." })
  note?: string | null;
  @Rule({ minLength: 1, maxLength: MAX_ACTOR_LENGTH })
  @Field({
    description:
      "Author of the change, as in `AssistantVersion.actor`: `user:ID`, `key:ID`, or a kind such as `operator`.",
  })
  actor!: string;
  @Field({ description: "Time of the change." })
  createdAt!: Date;
}

@InputType({ description: "Earlier version of an assistant of another service." })
export class ImportAssistantVersionInput extends ImportVersionInput {
  @Field(() => AssistantDraftInput, {
    description:
      "Document of the version; its files may be deleted. Secrets in its functions are not stored. Restoring the version leaves omitted fields unchanged.",
  })
  document!: AssistantDraftInput;
}

@InputType({ description: "Draft of an assistant of another service." })
export class ImportAssistantDraftInput extends AssistantDraftInput {
  @Rule({ minimum: 1 })
  @Field(() => Int, { description: "Number of the version that was current when the draft was begun." })
  basedOn!: number;
  @Field({ description: "Time of the last change." })
  updatedAt!: Date;
}
