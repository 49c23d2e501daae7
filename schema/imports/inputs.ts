import { ID, InputType } from "type-graphql";
import { CreateProjectInput } from "../projects/projects";
import type { JsonObject } from "../../src/platform/json/json-object";
import { CreateAssistantInput } from "../assistants/assistants";
import {
  UpdateChatConfigurationInput,
  UpdateRagSettingsInput,
  UpdateSmsConfigurationInput,
  UpdateThemeConfigurationInput,
  UpdateVoiceConfigurationInput,
} from "../configurations/inputs";
import { THEME } from "../configurations/texts";
import { Field } from "../core/decorators";
import { Rule } from "../core/rules";
import { JSONObject } from "../core/scalars";
import { CreateKeyInput } from "../keys/keys";
import { CreateWebhookDestinationInput } from "../webhooks/webhooks";
import { ImportVersionInput } from "./version-inputs";

/** Imported records keep their ids, of any form. */
export const FOREIGN_ID = { minLength: 1, maxLength: 255 } as const;
export const KEPT_ID = "Id to keep, of any form; 1 to 255 characters.";
export const CREATED = "Creation time. Default: now.";
export const UPDATED =
  "Time of the last change. Default: that of the creation or, of an existing record, now.";

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
  @Field(() => Date, { nullable: true, description: UPDATED })
  updatedAt?: Date | null;
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
  @Rule({ maxItems: 50 })
  @Field(() => [String], { nullable: true, description: THEME.allowedOrigins })
  allowedOrigins?: string[] | null;
  @Rule({ maxItems: 100 })
  @Field(() => [ID], { nullable: true, description: "Ids of the files that the assistant answers from." })
  fileIds?: string[] | null;
  @Field(() => ImportVersionInput, {
    nullable: true,
    description:
      "Current version at the source. It is stored with this number if the current version here has a lower one. Default: the next version, created now.",
  })
  version?: ImportVersionInput | null;
}

@InputType({ description: "Project of another service." })
export class ImportProjectInput extends CreateProjectInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Field(() => Date, { nullable: true, description: CREATED })
  createdAt?: Date | null;
  @Field(() => Date, { nullable: true, description: UPDATED })
  updatedAt?: Date | null;
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
  @Field(() => Date, { nullable: true, description: UPDATED })
  updatedAt?: Date | null;
  @Rule({ nullable: false })
  @Field(() => Boolean, {
    nullable: true,
    description:
      "Whether events are sent to it. Default: true or, of an existing one, as it is unless something else changes.",
  })
  enabled?: boolean;
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
