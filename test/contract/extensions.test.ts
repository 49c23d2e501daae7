import { expect, test } from "@jest/globals";
import {
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
  print,
} from "graphql";
import { withExtensions } from "../../rest-compat/extensions";

const extensions = { schema: { "x-extension": true } };
const Owner = new GraphQLObjectType({ name: "Owner", fields: { id: { type: GraphQLString } } });
const Item = new GraphQLObjectType({
  name: "Item",
  fields: {
    id: { type: GraphQLString },
    internal: { type: GraphQLString },
    tags: { type: new GraphQLList(GraphQLString), extensions },
    owner: { type: Owner, extensions },
  },
});
const args = {
  page: { type: GraphQLInt },
  search: { type: GraphQLString },
  tag: { type: GraphQLString, extensions },
};
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: "Query",
    fields: { items: { type: new GraphQLList(Item), args }, other: { type: Item, args } },
  }),
});
const extended = (document: string) => print(withExtensions(parse(document), schema));

test("a route gets the marked fields and arguments of its result, and no others", () => {
  expect(extended("query Items($page: Int) { result: items(page: $page) { id } }")).toBe(
    print(
      parse("query Items($page: Int, $tag: String) { result: items(page: $page, tag: $tag) { id tags } }"),
    ),
  );
});

test("a marked field or argument that a route names is not added again", () => {
  const document = "query ($tag: String) { result: items(tag: $tag) { tags id } }";
  expect(extended(document)).toBe(print(parse(document)));
});

test("fields around the result get no arguments", () => {
  const document = "query { items { tags result: owner { id } } }";
  expect(extended(document)).toBe(print(parse(document)));
});
