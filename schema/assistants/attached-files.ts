import { Arg, Ctx, ID, Int, ObjectType, registerEnumType, Resolver } from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { AttachedFiles } from "../../src/assistants/knowledge/attached-files";
import { Assistant } from "./assistants";
import type { Context } from "../core/context";
import { Field, FieldResolver, Mutation, Root } from "../core/decorators";

const IndexStatus = { PENDING: "PENDING", READY: "READY", FAILED: "FAILED" };
registerEnumType(IndexStatus, {
  name: "IndexStatus",
  description: "Indexing status of an attached file.",
  valuesConfig: {
    PENDING: { description: "The file is queued or being indexed." },
    READY: { description: "The assistant can answer from the file." },
    FAILED: { description: "The file could not be read. Attach it again to retry." },
  },
});

@ObjectType({ description: "File that an assistant answers from.", simpleResolvers: true })
export class AttachedFile {
  @Field(() => ID, { description: "Id of the file." })
  id!: string;
  @Field({ description: "Name of the file, which answers cite as their source." })
  name!: string;
  @Field({ description: "MIME type detected from the content; it decides how the file is read." })
  detectedType!: string;
  @Field(() => Int, { description: "Size in bytes." })
  size!: number;
  @Field(() => IndexStatus, { description: "Indexing status." })
  status!: string;
  @Field(() => String, {
    nullable: true,
    description: "Reason why the file could not be read, as a sentence; null unless the status is FAILED.",
  })
  problem!: string | null;
  @Field(() => Int, { description: "Number of searchable passages; 0 until the file is indexed." })
  passages!: number;
  @Field({ description: "Time of attachment." })
  attachedAt!: Date;
}

@Resolver(() => Assistant)
export class AttachedFileResolver {
  @FieldResolver(() => [AttachedFile], {
    description:
      "Files that the assistant answers from in addition to its resources, oldest attachment first; at most 100.",
  })
  files(@Root() { id }: Assistant, @Ctx() { scope }: Context) {
    return scope.of(AttachedFiles).of(id);
  }

  @Mutation(() => Assistant, {
    description:
      "Attaches a file (text, Markdown, HTML, PDF or DOCX) that the assistant answers from. The file is indexed in the background; models get passages from it on channels with isRagEnabled. Idempotent, but retries a file whose indexing failed. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND.",
  })
  async attachFile(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) assistantId: string,
    @Arg("fileId", () => ID, { description: "Id of the file." }) fileId: string,
    @Ctx() { scope }: Context,
  ) {
    await scope.of(AttachedFiles).attach(assistantId, fileId);
    return scope.of(Assistants).byId(assistantId);
  }

  @Mutation(() => Assistant, {
    description:
      "Detaches a file from an assistant and deletes its indexed passages. The file itself stays. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND.",
  })
  async detachFile(
    @Arg("assistantId", () => ID, { description: "Id of the assistant." }) assistantId: string,
    @Arg("fileId", () => ID, { description: "Id of the file." }) fileId: string,
    @Ctx() { scope }: Context,
  ) {
    await scope.of(AttachedFiles).detach(assistantId, fileId);
    return scope.of(Assistants).byId(assistantId);
  }
}
