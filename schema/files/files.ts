import type { Writable } from "node:stream";
import { Arg, Args, ArgsType, Ctx, ID, Int, ObjectType, Resolver } from "type-graphql";
import { Files, type Upload as FileUpload } from "../../src/assistants/files/files";
import { DomainError } from "../../src/platform/errors";
import { Deleted } from "../assistants/assistants";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, FieldResolver, Mutation, Query, Root } from "../core/decorators";
import { Deadline, PAGE_DEADLINE_MS } from "../core/deadline";
import { PageArgs, PageOf } from "../core/page";
import { NotNull } from "../core/rules";
import { JSONObject, Upload } from "../core/scalars";

@ObjectType({ implements: Node, description: "Uploaded file.", simpleResolvers: true })
export class File {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field({ description: "Name, without folders and control characters; at most 255 bytes." })
  name!: string;
  @Field(() => ID, { description: "Id of its organization." })
  organizationId!: string;
  @Field({
    description:
      "MIME type declared by the uploader, which is not verified; application/octet-stream if it declared none.",
  })
  mimeType!: string;
  @Field({ description: "MIME type detected from the content." })
  detectedType!: string;
  @Field(() => Int, { description: "Size in bytes." })
  size!: number;
  @Field(() => JSONObject, { description: "Metadata supplied by the uploader." })
  metadata!: Record<string, unknown>;
  @Field({ description: "Upload time." })
  createdAt!: Date;
}

@ObjectType({ description: "Link to the content of a file.", simpleResolvers: true })
export class FileDownload {
  @Field({ description: "URL of the content. It needs no credential." })
  url!: string;
  @Field({ description: "Time when the link expires." })
  expiresAt!: Date;
}

@ArgsType()
class FilesArgs extends PageArgs {
  @NotNull
  @Field({ nullable: true, description: "Text that the name contains; case-insensitive." })
  name?: string;
  @NotNull
  @Field({
    nullable: true,
    description: "Declared MIME type, such as application/pdf, or the part before the slash, such as image.",
  })
  mimeType?: string;
}

const FilePage = PageOf(() => File, "File");

@Resolver(() => File)
export class FileResolver {
  @Deadline(PAGE_DEADLINE_MS)
  @Query(() => FilePage, { description: "Lists the organization's files." })
  files(@Args() args: FilesArgs, @Ctx() { scope }: Context) {
    return scope.of(Files).list(args);
  }

  @Query(() => File, { description: "Returns a file. Errors: FILE_NOT_FOUND." })
  file(@Arg("id", () => ID, { description: "Id of the file." }) id: string, @Ctx() { scope }: Context) {
    return scope.of(Files).byId(id);
  }

  @FieldResolver(() => String, {
    description:
      "URL of the content, which needs no credential and expires after one hour. The audit log records it.",
  })
  url(@Root() { id }: File, @Ctx() { scope }: Context) {
    return scope.of(Files).linkTo(id).url;
  }

  @Query(() => FileDownload, {
    description:
      "Returns a link to the content of a file, which expires after one hour. Errors: FILE_NOT_FOUND.",
  })
  fileDownload(
    @Arg("id", () => ID, { description: "Id of the file." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Files).download(id);
  }

  @Deadline(60_000) // a part of a large file may take half of it
  @Mutation(() => File, {
    description:
      "Uploads a file, sent as defined by the GraphQL multipart request specification. Errors: PAYLOAD_TOO_LARGE, QUOTA_EXCEEDED, INSUFFICIENT_STORAGE.",
  })
  async uploadFile(
    @Arg("file", () => Upload, { description: "The file." }) file: Promise<FileUpload>,
    @Arg("metadata", () => JSONObject, {
      nullable: true,
      description: "Metadata to store with the file. Default: {}.",
    })
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

/**
 * The upload, which fails with the error that prevented its temporary copy, such as EMFILE or ENOSPC. The copy is removed
 * as soon as the client has disconnected.
 */
export function readable(file: FileUpload & { readonly capacitor?: Writable }): FileUpload {
  const { filename, mimetype, capacitor } = file;
  const createReadStream = () => {
    if (capacitor?.errored) throw capacitor.errored;
    if (capacitor?.destroyed)
      throw new DomainError("BAD_USER_INPUT", "The connection was closed before the file was stored.");
    return file.createReadStream();
  };
  return { filename, mimetype, createReadStream };
}
