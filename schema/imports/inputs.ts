import { ID, InputType } from "type-graphql";
import type { JsonObject } from "../../src/platform/json/json-object";
import { CreateAssistantInput } from "../assistants/assistants";
import {
  UpdateChatConfigurationInput,
  UpdateRagSettingsInput,
  UpdateSmsConfigurationInput,
  UpdateThemeConfigurationInput,
  UpdateVoiceConfigurationInput,
} from "../configurations/inputs";
import { Field } from "../core/decorators";
import { Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { CreateKeyInput } from "../keys/keys";
import { CreateWebhookDestinationInput } from "../webhooks/webhooks";

/** Imported records keep their ids, of any form. */
const FOREIGN_ID = { minLength: 1, maxLength: 255 } as const;
const KEPT_ID = "Id to keep, of any form; 1 to 255 characters.";
const CREATED = "Creation time. Default: now.";

@InputType({
  description:
    "Assistant of another service. Omitted configurations and fields of them keep their values or defaults; the other fields are replaced.",
})
export class ImportAssistantInput extends CreateAssistantInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Field(() => Date, {
    nullable: true,
    description: `${CREATED} Does not change that of an existing record.`,
  })
  createdAt?: Date | null;
  @Field(() => UpdateVoiceConfigurationInput, { nullable: true, description: "Configuration for calls." })
  voice?: UpdateVoiceConfigurationInput | null;
  @Field(() => UpdateSmsConfigurationInput, { nullable: true, description: "Configuration for SMS." })
  sms?: UpdateSmsConfigurationInput | null;
  @Field(() => UpdateChatConfigurationInput, { nullable: true, description: "Configuration for text chats." })
  chat?: UpdateChatConfigurationInput | null;
  @Field(() => UpdateThemeConfigurationInput, { nullable: true, description: "Look and mode of the widget." })
  theme?: UpdateThemeConfigurationInput | null;
  @Field(() => UpdateRagSettingsInput, { nullable: true, description: "Retrieval settings for calls." })
  voiceRag?: UpdateRagSettingsInput | null;
  @Field(() => UpdateRagSettingsInput, { nullable: true, description: "Retrieval settings for SMS." })
  smsRag?: UpdateRagSettingsInput | null;
  @Field(() => UpdateRagSettingsInput, { nullable: true, description: "Retrieval settings for text chats." })
  chatRag?: UpdateRagSettingsInput | null;
}

@InputType({ description: "API key of another service." })
export class ImportKeyInput extends CreateKeyInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Rule({ minLength: 16, maxLength: 255 })
  @Field({
    description: "Value to keep: 16 to 255 visible ASCII characters, such as letters, digits and _.",
  })
  value!: string;
  @Field(() => Date, { nullable: true, description: CREATED })
  createdAt?: Date | null;
}

@InputType({ description: "Webhook destination of another service." })
export class ImportWebhookDestinationInput extends CreateWebhookDestinationInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Field(() => Date, { nullable: true, description: CREATED })
  createdAt?: Date | null;
}

@InputType({ description: "Record of an uploaded file of another service." })
export class ImportFileInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Field(() => JSONObject, { nullable: true, description: "Metadata to store with the file. Default: {}." })
  metadata?: JsonObject | null;
  @Field(() => Date, { nullable: true, description: CREATED })
  createdAt?: Date | null;
}
