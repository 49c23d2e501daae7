import { Arg, Args, Ctx, Field, Float, ID, Int, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import { personOf } from "../../src/privacy/people/person";
import { EndUserExports, type ExportStatus } from "../../src/privacy/exports/exports";
import { ConnectionArgs, ConnectionOf } from "../core/connection";
import type { Context } from "../core/context";
import { enumOf } from "../core/enums";
import { PersonArgs, Subject } from "./erasures";
import { FileDownload } from "../files/files";

const Status = enumOf(
  "EndUserExportStatus",
  "State of an export. PENDING: it waits for a worker. RUNNING: a worker writes the archive. DONE: the archive can be downloaded. FAILED: there is no archive; `problem` says why. EXPIRED: the archive was removed after its day. WITHDRAWN: somebody whose data it holds was erased, or a log in it deleted.",
  ["PENDING", "RUNNING", "DONE", "FAILED", "EXPIRED", "WITHDRAWN"],
);

@ObjectType({
  description:
    "An export of a person's data: state, counts and times, and nothing that tells whose data it is.",
  simpleResolvers: true,
})
export class EndUserExport {
  @Field(() => ID, { description: "Opaque." })
  id!: string;
  @Field(() => Subject, { description: "Kind of the identifier." })
  subject!: string;
  @Field(() => Status, { description: "State of the export." })
  status!: ExportStatus;
  @Field(() => String, { nullable: true, description: "Reason of a FAILED export; null otherwise." })
  problem!: string | null;
  @Field(() => Float, { description: "Size of the archive in bytes; 0 until it is DONE." })
  size!: number;
  @Field(() => Int, { description: "Conversations in the archive." })
  chats!: number;
  @Field(() => Int, { description: "Messages in the archive." })
  messages!: number;
  @Field(() => Int, { description: "Events in the archive." })
  events!: number;
  @Field(() => Int, { description: "Files in the archive." })
  files!: number;
  @Field(() => Int, { description: "Recordings in the archive." })
  recordings!: number;
  @Field(() => Int, {
    description:
      "Files and recordings that could not be fetched; `files.ndjson` and `recordings.ndjson` in the archive name them.",
  })
  absent!: number;
  @Field({ description: "Time of the request." })
  requestedAt!: Date;
  @Field(() => Date, { nullable: true, description: "Time when the archive was finished; null until then." })
  finishedAt!: Date | null;
  @Field(() => Date, {
    nullable: true,
    description: "Time when the archive is removed, 24 hours after it was finished; null until then.",
  })
  expiresAt!: Date | null;
}

const ExportConnection = ConnectionOf(() => EndUserExport, "EndUserExport");

@Resolver()
export class ExportResolver {
  @Mutation(() => EndUserExport, {
    nullable: true,
    description:
      "Exports what is stored of a person, named by exactly one identifier, as one ZIP archive: NDJSON files of conversations, messages, calls, texts, events, deliveries and remembered facts, the files that name the person and the recordings. Runs as a job; query `endUserExport` for its progress, then `endUserExportDownload`.",
  })
  exportEndUser(@Args() person: PersonArgs, @Ctx() { scope }: Context) {
    return scope.of(EndUserExports).request(personOf(person));
  }

  @Query(() => ExportConnection, { description: "Lists the exports of people's data, the newest first." })
  endUserExports(@Args() query: ConnectionArgs, @Ctx() { scope }: Context) {
    return scope.of(EndUserExports).list(query);
  }

  @Query(() => EndUserExport, {
    nullable: true,
    description: "Returns the state of one export. Errors: EXPORT_NOT_FOUND.",
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
      "Returns a link to the archive of an export, which ends after an hour; null unless the export is DONE. Errors: EXPORT_NOT_FOUND.",
  })
  endUserExportDownload(
    @Arg("id", () => ID, { description: "Id of the export." }) id: string,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(EndUserExports).download(id);
  }
}
