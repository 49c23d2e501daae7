import { ArgsType, Field, Int, ObjectType, type ClassType } from "type-graphql";
import type { Page, PageQuery } from "../../src/platform/database/lists/page";
import { SortOrder } from "./enums";
import { Rule } from "./rules";

@ObjectType({ description: "Position of a page in its list.", simpleResolvers: true })
export class PageMeta {
  @Field(() => Int, { description: "Page number, from 1." })
  page!: number;
  @Field(() => Int, { description: "Maximum number of entries per page." })
  take!: number;
  @Field(() => Int, { description: "Number of entries in the whole list." })
  itemCount!: number;
  @Field(() => Int, { description: "Number of pages in the whole list." })
  pageCount!: number;
  @Field({ description: "Whether a page comes before this one." })
  hasPreviousPage!: boolean;
  @Field({ description: "Whether a page comes after this one." })
  hasNextPage!: boolean;
}

/** Creates the page type of a resource: `data` and `meta`. */
export function PageOf<T extends object>(item: () => ClassType<T>, name: string) {
  @ObjectType(`${name}Page`, { description: `One page of a list of ${name} records.`, simpleResolvers: true })
  class PageType implements Page<T> {
    @Field(() => [item()], { description: "Entries of this page." })
    data!: T[];
    @Field(() => PageMeta, { description: "Position of this page in the list." })
    meta!: PageMeta;
  }
  return PageType;
}

@ArgsType()
export class PageArgs implements PageQuery {
  @Field(() => SortOrder, {
    nullable: true,
    defaultValue: "desc",
    description: "Order by creation time: `desc` (newest first, the default) or `asc`.",
  })
  order?: "asc" | "desc" | null;
  @Rule({ minimum: 1 })
  @Field(() => Int, { nullable: true, defaultValue: 1, description: "Page number, from 1. Default: 1." })
  page?: number | null;
  @Rule({ minimum: 1, maximum: 100 })
  @Field(() => Int, {
    nullable: true,
    defaultValue: 20,
    description: "Number of entries per page, 1 to 100. Default: 20.",
  })
  take?: number | null;
}
