import "reflect-metadata";
import { expect, test } from "@jest/globals";
import { ID, Int } from "type-graphql";
import { Chat, Message } from "../../schema/chats/chats";
import { Field, FieldResolver, Mutation, Query, Subscription } from "../../schema/core/decorators";
import { PageOf, type PageMeta } from "../../schema/core/page";
import { importsOf, sourceFiles } from "../support/source";

const description = "…";
declare const message: Message;
declare const withoutId: Omit<Message, "id">;
declare const meta: PageMeta;
declare const messages: AsyncIterable<Message>;
declare const numbers: AsyncIterable<number>;

/** Never called: `npm run typecheck` fails if a line after `@ts-expect-error` compiles. */
export function wrongShapes() {
  const MessagePage = PageOf(() => Message, "Sample"); // not at module level, where it would join the schema of other tests
  class Resolvers {
    @Query(() => Message, { description })
    whole() {
      return Promise.resolve(message);
    }

    @FieldResolver(() => [Message], { description })
    list() {
      return [message];
    }

    @FieldResolver(() => Message, { nullable: true, description })
    maybe(): Message | null {
      return null;
    }

    // @ts-expect-error a field is missing
    @Query(() => Message, { description })
    partial() {
      return withoutId;
    }

    // @ts-expect-error a field is missing in an entry of a page
    @Query(() => MessagePage, { description })
    page() {
      return Promise.resolve({ data: [withoutId], meta });
    }

    // @ts-expect-error not nullable
    @Mutation(() => Message, { description })
    absent(): Promise<Message | undefined> {
      return Promise.resolve(undefined);
    }

    // @ts-expect-error one record for a list
    @FieldResolver(() => [Message], { description })
    one() {
      return message;
    }

    // @ts-expect-error a text for a number
    @FieldResolver(() => Int, { description })
    count() {
      return "1";
    }

    // @ts-expect-error another type
    @FieldResolver(() => Chat, { description })
    other() {
      return message;
    }

    @Subscription(() => Message, { description, subscribe: () => messages })
    stream() {
      return message;
    }

    // @ts-expect-error a stream of something else
    @Subscription(() => Message, { description, subscribe: () => numbers })
    otherStream() {
      return message;
    }
  }

  class Fields {
    @Field(() => ID, { description })
    id!: string;

    @Field(() => String, { nullable: true, description })
    note!: string | null;

    // @ts-expect-error not nullable
    @Field(() => String, { description })
    text!: string | null;

    // @ts-expect-error a text for a number
    @Field(() => Int, { description })
    number!: string;

    // @ts-expect-error not nullable, by the type of the property
    @Field({ description })
    name!: string | null;
  }
  return [Resolvers, Fields];
}

test("operations and fields of the schema have decorators that check their types", () => {
  const unchecked = /\b(Query|Mutation|Subscription|FieldResolver|Field)\b/;
  const files = sourceFiles("schema").filter((file) =>
    importsOf(file).some(({ to }) => to === "type-graphql"),
  );
  const taking = files.filter((file) =>
    [...file.text.matchAll(/import \{([^}]*)\} from "type-graphql"/g)].some(([, names]) =>
      unchecked.test(names!),
    ),
  );
  // They create types from a given type or JSON Schema, which cannot be checked beforehand.
  expect(taking.map(({ fileName }) => fileName)).toEqual([
    "schema/core/connection.ts",
    "schema/core/page.ts",
    "schema/events/event-data.ts",
  ]);
  expect(files.length).toBeGreaterThan(30);
});
