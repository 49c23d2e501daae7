import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  Mutation,
  ObjectType,
  registerEnumType,
  Resolver,
  Root,
} from "type-graphql";
import { Assistants } from "../../src/assistants/assistants/assistants";
import { AttachedFiles } from "../../src/assistants/knowledge/attached-files";
import { Assistant } from "./assistants";
import type { Context } from "../core/context";

const IndexStatus = { PENDING: "PENDING", READY: "READY", FAILED: "FAILED" };
registerEnumType(IndexStatus, {
  name: "IndexStatus",
  description: "How far an attached file has been read.",
  valuesConfig: {
    PENDING: { description: "It is to be read, or is being read." },
    READY: { description: "The assistant answers from it." },
    FAILED: { description: "It could not be read; attaching it again tries once more." },
  },
});

@ObjectType({ description: "A file that an assistant answers from.", simpleResolvers: true })
export class AttachedFile {
  @Field(() => ID, { description: "The file's id." })
  id!: string;
  @Field({ description: "The file's name, which answers cite as their source." })
  name!: string;
  @Field({ description: "The type that its content shows, which decides how it is read." })
  detectedType!: string;
  @Field(() => Int, { description: "In bytes." })
  size!: number;
  @Field(() => IndexStatus, { description: "How far it has been read." })
  status!: string;
  @Field(() => String, { nullable: true, description: "Why it could not be read, in a sentence." })
  problem!: string | null;
  @Field(() => Int, { description: "How many passages can be found in it; 0 until it has been read." })
  passages!: number;
  @Field({ description: "When it was attached." })
  attachedAt!: Date;
}

@Resolver(() => Assistant)
export class AttachedFileResolver {
  @FieldResolver(() => [AttachedFile], {
    description: "The files it answers from, beside its resources, the first attached first; at most 100.",
  })
  files(@Root() { id }: Assistant, @Ctx() { scope }: Context) {
    return scope.of(AttachedFiles).of(id);
  }

  @Mutation(() => Assistant, {
    description:
      "Lets an assistant answer from a file of text, Markdown, HTML, PDF or DOCX, which is read in the background; models are given what is found in it where isRagEnabled. Doing it again changes nothing, but tries a file once more that could not be read. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND.",
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
      "Takes a file from an assistant, and with it all that was found in it; the file itself stays. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND.",
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
