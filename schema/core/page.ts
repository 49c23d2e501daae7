import { ArgsType, Field, Int, ObjectType, type ClassType } from "type-graphql";
import type { Page, PageQuery } from "../../src/platform/database/page";
import { SortOrder } from "./enums";
import { Rule } from "./rules";

@ObjectType({ description: "Where a page stands in its list.", simpleResolvers: true })
export class PageMeta {
  @Field(() => Int, { description: "Number of the page, from 1." })
  page!: number;
  @Field(() => Int, { description: "Most entries on a page." })
  take!: number;
  @Field(() => Int, { description: "Entries in the whole list." })
  itemCount!: number;
  @Field(() => Int, { description: "Pages in the whole list." })
  pageCount!: number;
  @Field({ description: "Whether a page comes before this one." })
  hasPreviousPage!: boolean;
  @Field({ description: "Whether a page comes after this one." })
  hasNextPage!: boolean;
}

/** The page type of a resource: `data` and `meta`. */
export function PageOf<T extends object>(item: () => ClassType<T>, name: string) {
  @ObjectType(`${name}Page`, { description: `One page of a list of ${name} records.`, simpleResolvers: true })
  class PageType implements Page<T> {
    @Field(() => [item()], { description: "The entries of this page." })
    data!: T[];
    @Field(() => PageMeta, { description: "Where this page stands." })
    meta!: PageMeta;
  }
  return PageType;
}

@ArgsType()
export class PageArgs implements PageQuery {
  @Field(() => SortOrder, {
    nullable: true,
    defaultValue: "desc",
    description: "By creation; the newest first without it.",
  })
  order?: "asc" | "desc" | null;
  @Rule({ minimum: 1 })
  @Field(() => Int, { nullable: true, defaultValue: 1, description: "Number of the page, from 1." })
  page?: number | null;
  @Rule({ minimum: 1, maximum: 100 })
  @Field(() => Int, { nullable: true, defaultValue: 20, description: "Entries on a page, 1 to 100." })
  take?: number | null;
}
