import type { Writable } from "node:stream";
import { Arg, Args, Ctx, Field, ID, Int, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import { Files, type Upload as FileUpload } from "../../src/assistants/files/files";
import { Deleted } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Deadline, PAGE_DEADLINE_MS } from "../core/deadline";
import { PageArgs, PageOf } from "../core/page";
import { JSONObject, Upload } from "../core/scalars";

@ObjectType({ description: "An uploaded file.", simpleResolvers: true })
export class File {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field({ description: "Its name, without folders and control characters, at most 255 bytes." })
  name!: string;
  @Field(() => ID, { description: "The organization it belongs to." })
  organizationId!: string;
  @Field({
    description:
      "The type that the uploader declared, application/octet-stream where that was none; never trusted.",
  })
  mimeType!: string;
  @Field({ description: "The type that the content itself shows." })
  detectedType!: string;
  @Field(() => Int, { description: "In bytes." })
  size!: number;
  @Field(() => JSONObject, { description: "What the uploader added." })
  metadata!: Record<string, unknown>;
  @Field({ description: "When it was uploaded." })
  createdAt!: Date;
}

@ObjectType({ description: "A link to a file's content.", simpleResolvers: true })
export class FileDownload {
  @Field({ description: "Needs no credential." })
  url!: string;
  @Field({ description: "When the link ends." })
  expiresAt!: Date;
}

const FilePage = PageOf(() => File, "File");

@Resolver()
export class FileResolver {
  @Deadline(PAGE_DEADLINE_MS)
  @Query(() => FilePage, { description: "The organization's files." })
  files(@Args() args: PageArgs, @Ctx() { scope }: Context) {
    return scope.of(Files).list(args);
  }

  @Query(() => FileDownload, {
    description: "A link to a file's content that ends after an hour. Errors: FILE_NOT_FOUND.",
  })
  fileDownload(
    @Arg("id", () => ID, { description: "Id of the file." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Files).download(id);
  }

  @Mutation(() => File, {
    description:
      "Uploads a file, by the GraphQL multipart request specification. Errors: PAYLOAD_TOO_LARGE, QUOTA_EXCEEDED, INSUFFICIENT_STORAGE.",
  })
  async uploadFile(
    @Arg("file", () => Upload, { description: "The file." }) file: Promise<FileUpload>,
    @Arg("metadata", () => JSONObject, { nullable: true, description: "Anything to keep with the file." })
    metadata: Record<string, unknown> | null,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Files).upload(readable(await file), metadata ?? {});
  }

  @Mutation(() => Deleted, { description: "Deletes a file and its content. Errors: FILE_NOT_FOUND." })
  deleteFile(@Arg("id", () => ID, { description: "Id of the file." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Files).remove(id);
  }
}

/** The upload, failing with what kept its temporary copy from being written, such as EMFILE or ENOSPC. */
function readable(file: FileUpload & { readonly capacitor?: Writable }): FileUpload {
  const { filename, mimetype, capacitor } = file;
  const createReadStream = () => {
    if (capacitor?.errored) throw capacitor.errored;
    return file.createReadStream();
  };
  return { filename, mimetype, createReadStream };
}
