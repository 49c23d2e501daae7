import { Arg, Args, Ctx, Float, ID, Int, ObjectType, Resolver } from "type-graphql";
import { personOf } from "../../src/privacy/people/person";
import { EndUserExports, type ExportStatus } from "../../src/privacy/exports/exports";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { Node } from "../core/node";
import { Field, Mutation, Query } from "../core/decorators";
import { enumOf } from "../core/enums";
import { PersonArgs, Subject } from "./erasures";
import { FileDownload } from "../files/files";

const Status = enumOf("EndUserExportStatus", "Status of an export.", {
  PENDING: "The export waits for a worker.",
  RUNNING: "A worker is writing the archive.",
  DONE: "The archive can be downloaded.",
  FAILED: "There is no archive; `problem` has the reason.",
  EXPIRED: "The archive was removed after 24 hours.",
  WITHDRAWN: "The archive was removed because a person in it was erased or a log in it was deleted.",
} satisfies Record<ExportStatus, string>);

@ObjectType({
  implements: Node,
  description:
    "Export of a person's data: status, counts and times, without any data that identifies the person.",
  simpleResolvers: true,
})
export class EndUserExport {
  @Field(() => ID, { description: "Opaque id." })
  id!: string;
  @Field(() => Subject, { description: "Kind of the identifier." })
  subject!: string;
  @Field(() => Status, { description: "Status of the export." })
  status!: ExportStatus;
  @Field(() => String, {
    nullable: true,
    description: "Reason for the failure; null unless the status is FAILED.",
  })
  problem!: string | null;
  @Field(() => Float, { description: "Size of the archive in bytes; 0 until the status is DONE." })
  size!: number;
  @Field(() => Int, { description: "Number of conversations in the archive." })
  chats!: number;
  @Field(() => Int, { description: "Number of messages in the archive." })
  messages!: number;
  @Field(() => Int, { description: "Number of events in the archive." })
  events!: number;
  @Field(() => Int, { description: "Number of files in the archive." })
  files!: number;
  @Field(() => Int, { description: "Number of recordings in the archive." })
  recordings!: number;
  @Field(() => Int, {
    description:
      "Number of files and recordings that could not be fetched; `files.ndjson` and `recordings.ndjson` in the archive list them.",
  })
  absent!: number;
  @Field({ description: "Time of the request." })
  requestedAt!: Date;
  @Field(() => Date, { nullable: true, description: "Time when the export finished; null until then." })
  finishedAt!: Date | null;
  @Field(() => Date, {
    nullable: true,
    description:
      "Time when the archive is removed, 24 hours after it is finished; null until it is finished.",
  })
  expiresAt!: Date | null;
}

const ExportConnection = ConnectionOf(() => EndUserExport, "EndUserExport");

@Resolver()
export class ExportResolver {
  @Mutation(() => EndUserExport, {
    nullable: true,
    description:
      "Exports the stored data of a person, given by exactly one identifier, as a ZIP archive: NDJSON files of conversations, messages, calls, texts, events, deliveries and remembered facts, plus recordings and the files whose metadata names the person. Runs as a job; query `endUserExport` for its progress, then `endUserExportDownload`.",
  })
  exportEndUser(@Args() person: PersonArgs, @Ctx() { scope }: Context) {
    return scope.of(EndUserExports).request(personOf(person));
  }

  @Query(() => ExportConnection, { description: "Lists the exports of people's data, newest first." })
  endUserExports(@Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(EndUserExports).list(query);
  }

  @Query(() => EndUserExport, {
    nullable: true,
    description: "Returns the status of an export. Errors: EXPORT_NOT_FOUND.",
  })
  endUserExport(
    @Arg("id", () => ID, { description: "Id of the export." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(EndUserExports).byId(id);
  }

  @Query(() => FileDownload, {
    nullable: true,
    description:
      "Returns a link to the archive of an export, which expires after one hour; null unless the status is DONE. Errors: EXPORT_NOT_FOUND.",
  })
  endUserExportDownload(
    @Arg("id", () => ID, { description: "Id of the export." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(EndUserExports).download(id);
  }
}
