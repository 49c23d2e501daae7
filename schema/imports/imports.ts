import { Arg, Args, ArgsType, Ctx, ID, Int, ObjectType, Resolver } from "type-graphql";
import { Keys } from "../../src/account/organization/keys";
import { Files, type Upload as FileUpload } from "../../src/assistants/files/files";
import { importConversations } from "../../src/channels/calls/import-calls";
import { importAssistant, type ImportedAssistant } from "../../src/assistants/versions/import-assistant";
import { importDestination } from "../../src/events/webhooks/import-destination";
import { Assistant } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Field, Mutation } from "../core/decorators";
import { Rule } from "../core/rules";
import { Upload } from "../core/scalars";
import { File, readable } from "../files/files";
import { Key } from "../keys/keys";
import { WebhookDestination } from "../webhooks/webhooks";
import {
  ImportAssistantInput,
  ImportFileInput,
  ImportKeyInput,
  ImportWebhookDestinationInput,
} from "./inputs";
import { ImportLogInput } from "./log-inputs";

export const OPERATOR = "Needs a key with the permission import, which only the command line grants";

@ObjectType({ description: "Result of an import of logs.", simpleResolvers: true })
export class LogImport {
  @Field(() => Int, { description: "Number of logs that were stored." })
  imported!: number;
  @Field(() => [ID], { description: "Ids of logs that existed; they were left as they are." })
  existing!: readonly string[];
}

@ArgsType()
class ImportLogsArgs {
  @Field(() => ID, { description: "Id of the assistant." })
  assistantId!: string;
  @Rule({ maxItems: 100 })
  @Field(() => [ImportLogInput], { description: "The logs, at most 100." })
  logs!: ImportLogInput[];
}

@Resolver()
export class ImportResolver {
  @Mutation(() => Assistant, {
    description: `Creates an assistant of another service with its id, or updates the one with this id to match, even if it was deleted. ${OPERATOR}. Errors: QUOTA_EXCEEDED, TEMPLATE_READ_ONLY, FILE_NOT_FOUND; CONFLICT if another assistant has the key; PROJECT_NOT_FOUND if projectId is unknown.`,
  })
  importAssistant(
    @Arg("input", { description: "The assistant." }) input: ImportAssistantInput,
    @Ctx() { scope }: Context,
  ) {
    const { voiceRag, smsRag, chatRag, ...rest } = input;
    const rag = { voice: voiceRag, sms: smsRag, chat: chatRag };
    return importAssistant(scope, { ...rest, rag } as ImportedAssistant); // the form of a document
  }

  @Mutation(() => Key, {
    description: `Stores a key of another service with its id and value, so that its holders stay connected. An existing one can only become inactive. ${OPERATOR}. Errors: ASSISTANT_NOT_FOUND; CONFLICT if another key has the value, or the key with this id another value.`,
  })
  importKey(
    @Arg("input", { description: "The key." }) input: ImportKeyInput,
    @Ctx() { scope, caller }: Context,
  ) {
    return scope.of(Keys).import(input, caller!);
  }

  @Mutation(() => WebhookDestination, {
    description: `Creates a webhook destination of another service with its id and secret, or updates the one with this id to match. ${OPERATOR}. Errors: PROJECT_NOT_FOUND if projectId is unknown.`,
  })
  importWebhookDestination(
    @Arg("input", { description: "The destination." }) input: ImportWebhookDestinationInput,
    @Ctx() { scope }: Context,
  ) {
    return importDestination(scope, input);
  }

  @Mutation(() => File, {
    description: `Uploads a file of another service with its id, sent as defined by the GraphQL multipart request specification. An existing one with this id stays as it is. ${OPERATOR}. Errors: PAYLOAD_TOO_LARGE, QUOTA_EXCEEDED, INSUFFICIENT_STORAGE.`,
  })
  async importFile(
    @Arg("file", () => Upload, { description: "The file." }) file: Promise<FileUpload>,
    @Arg("input", { description: "Its record." }) { id, metadata, createdAt }: ImportFileInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Files).import(readable(await file), metadata ?? {}, { id, createdAt });
  }

  @Mutation(() => LogImport, {
    description: `Stores conversations of another service as logs of an assistant, with their ids. Causes no events and no answers. Logs with these ids that exist stay as they are. ${OPERATOR}. Errors: ASSISTANT_NOT_FOUND, QUOTA_EXCEEDED; CONFLICT if another assistant has a log with one of the ids.`,
  })
  importLogs(@Args() { assistantId, logs }: ImportLogsArgs, @Ctx() { scope }: Context) {
    return importConversations(scope, assistantId, logs);
  }
}
