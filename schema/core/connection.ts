import { ArgsType, Field, Int, ObjectType, type ClassType } from "type-graphql";
import type { Connection, ConnectionQuery } from "../../src/platform/database/connection";
import { Rule } from "./rules";

@ObjectType({ description: "Where a connection goes on.", simpleResolvers: true })
export class PageInfo {
  @Field({ description: "Whether more entries follow." })
  hasNextPage!: boolean;
  @Field(() => String, { nullable: true, description: "Cursor of the last entry here: pass it as `after`." })
  endCursor!: string | null;
}

/** The connection type of a resource: `edges`, `nodes`, `pageInfo`. */
export function ConnectionOf<T extends object>(item: () => ClassType<T>, name: string) {
  @ObjectType(`${name}Edge`, {
    description: `One ${name} in a connection, with its cursor.`,
    simpleResolvers: true,
  })
  class Edge {
    @Field({ description: "Where this entry stands: pass it as `after` to go on behind it." })
    cursor!: string;
    @Field(() => item(), { description: "The entry." })
    node!: T;
  }
  @ObjectType(`${name}Connection`, {
    description: `${name} records, the newest first.`,
    simpleResolvers: true,
  })
  class ConnectionType implements Connection<T> {
    @Field(() => [Edge], { description: "The entries with their cursors." })
    edges!: Edge[];
    @Field(() => [item()], { description: "The entries without their cursors." })
    nodes!: T[];
    @Field(() => PageInfo, { description: "Where it goes on." })
    pageInfo!: PageInfo;
  }
  return ConnectionType;
}

@ArgsType()
export class ConnectionArgs implements ConnectionQuery {
  @Rule({ minimum: 1, maximum: 100 })
  @Field(() => Int, { nullable: true, defaultValue: 20, description: "Most entries to return, 1 to 100." })
  first?: number | null;
  @Rule({ format: "cursor" })
  @Field(() => String, { nullable: true, description: "Cursor behind which to begin." })
  after?: string | null;
}
