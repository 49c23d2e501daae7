import { ArgsType, Field, Int, ObjectType, type ClassType } from "type-graphql";
import type { Connection, ConnectionQuery } from "../../src/platform/database/connection";
import { Rule } from "./rules";

@ObjectType({ description: "Position of a page in a connection.", simpleResolvers: true })
export class PageInfo {
  @Field({ description: "Whether more entries follow this page." })
  hasNextPage!: boolean;
  @Field({ description: "Whether entries come before this page: it is not the first one." })
  hasPreviousPage!: boolean;
  @Field(() => String, {
    nullable: true,
    description: "Cursor of the first entry of this page; null if there is none.",
  })
  startCursor!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Cursor of the last entry of this page, or of the last one that a limited search covered, to pass as `after`; null if there is none.",
  })
  endCursor!: string | null;
}

/** Creates the connection type of a resource: `edges`, `nodes`, `pageInfo`. */
export function ConnectionOf<T extends object>(item: () => ClassType<T>, name: string) {
  @ObjectType(`${name}Edge`, {
    description: `One ${name} in a connection, with its cursor.`,
    simpleResolvers: true,
  })
  class Edge {
    @Field({ description: "Position of this entry, to pass as `after` for the entries that follow." })
    cursor!: string;
    @Field(() => item(), { description: "The record." })
    node!: T;
  }
  @ObjectType(`${name}Connection`, {
    description: `A page of ${name} records, newest first.`,
    simpleResolvers: true,
  })
  class ConnectionType implements Connection<T> {
    @Field(() => [Edge], { description: "Entries with their cursors." })
    edges!: Edge[];
    @Field(() => [item()], { description: "Records without cursors." })
    nodes!: T[];
    @Field(() => PageInfo, { description: "Position of this page." })
    pageInfo!: PageInfo;
  }
  return ConnectionType;
}

@ArgsType()
export class ConnectionArgs implements ConnectionQuery {
  @Rule({ minimum: 1, maximum: 100 })
  @Field(() => Int, {
    nullable: true,
    defaultValue: 20,
    description: "Maximum number of entries to return, 1 to 100. Default: 20.",
  })
  first?: number | null;
  @Rule({ format: "cursor" })
  @Field(() => String, {
    nullable: true,
    description: "Cursor of the entry after which the page starts. Default: the start of the list.",
  })
  after?: string | null;
}
