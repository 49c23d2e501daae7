import { ArgsType, Field, Int, ObjectType, type ClassType } from "type-graphql";
import {
  LIST_ORDERS,
  type Connection,
  type ConnectionQuery,
  type ListOrder,
} from "../../src/platform/database/lists/connection";
import { enumOf } from "./enums";
import { NotNull, Rule } from "./rules";

const ListOrderEnum = enumOf("ListOrder", "Order of a connection, by creation time.", LIST_ORDERS);

@ObjectType({ description: "Position of a page in a connection.", simpleResolvers: true })
export class PageInfo {
  @Field({ description: "Whether more entries follow this page." })
  hasNextPage!: boolean;
  @Field({ description: "Whether entries come before this page." })
  hasPreviousPage!: boolean;
  @Field(() => String, {
    nullable: true,
    description:
      "Cursor of the first entry of this page, or with `last` of the first one that a limited search covered, to pass as `before`; null if there is none.",
  })
  startCursor!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Cursor of the last entry of this page, or of the last one that a limited search covered, to pass as `after`; null if there is none.",
  })
  endCursor!: string | null;
}

/** Creates the connection type of a resource: `edges`, `nodes`, `pageInfo`, `totalCount`. */
export function ConnectionOf<T extends object>(
  item: () => ClassType<T>,
  name: string,
  edge = `${name}Edge`,
): ClassType<Connection<T>> {
  @ObjectType(edge, {
    description: `One ${name} in a connection, with its cursor.`,
    simpleResolvers: true,
  })
  class Edge {
    @Field({
      description: "Position of this entry, to pass as `after` for the entries that follow, or as `before`.",
    })
    cursor!: string;
    @Field(() => item(), { description: "The record." })
    node!: T;
  }
  @ObjectType(`${name}Connection`, {
    description: `A page of ${name} records.`,
    simpleResolvers: true,
  })
  class ConnectionType implements Connection<T> {
    @Field(() => [Edge], { description: "Entries with their cursors." })
    edges!: Edge[];
    @Field(() => [item()], { description: "Records without cursors." })
    nodes!: T[];
    @Field(() => PageInfo, { description: "Position of this page." })
    pageInfo!: PageInfo;
    count!: () => Promise<number | null>;
    @Field(() => Int, {
      nullable: true,
      description:
        "Number of entries in the whole list, which is counted only if you ask for it. If counting takes too long, it fails with TIMEOUT or, for a search in `logs`, is null with a warning; the page keeps its entries.",
    })
    totalCount(): Promise<number | null> {
      return this.count();
    }
  }
  return ConnectionType;
}

@ArgsType()
export class ConnectionArgs implements ConnectionQuery {
  @Rule({ minimum: 1, maximum: 100 })
  @Field(() => Int, {
    nullable: true,
    description:
      "Maximum number of entries from the start of the list, 1 to 100. Default: 20, without `last`.",
  })
  first?: number | null;
  @Rule({ format: "cursor" })
  @Field(() => String, {
    nullable: true,
    description: "Cursor of the entry after which the page starts. Default: the start of the list.",
  })
  after?: string | null;
  @Rule({ minimum: 1, maximum: 100 })
  @Field(() => Int, {
    nullable: true,
    description:
      "Maximum number of entries from the end of the list, 1 to 100, instead of `first`. Their order is the same.",
  })
  last?: number | null;
  @Rule({ format: "cursor" })
  @Field(() => String, {
    nullable: true,
    description: "Cursor of the entry before which the page ends. Default: the end of the list.",
  })
  before?: string | null;
  @NotNull
  @Field(() => ListOrderEnum, { nullable: true, description: "Order of the list. Default: NEWEST_FIRST." })
  orderBy?: ListOrder;
}
