import { Args, ArgsType, Ctx, ID, Resolver } from "type-graphql";
import { notFound } from "../../src/platform/errors";
import { accessOf, accessOfType, admit } from "../core/access";
import type { Context } from "../core/context";
import { Field, Query } from "../core/decorators";
import { Node } from "../core/node";
import { Rule } from "../core/rules";
import { TYPES } from "../core/type-rules";
import { locate } from "./kinds";

const RULES =
  "The permissions and errors of the query for a single record of that type apply. Errors: NODE_NOT_FOUND";
const LENGTH = { maxLength: 255 } as const;

@ArgsType()
class NodeArgs {
  @Rule(LENGTH)
  @Field(() => ID, { description: "Id of a record that implements Node." })
  id!: string;
}

@ArgsType()
class NodesArgs {
  @Rule({ ...LENGTH, maxItems: 100 })
  @Field(() => [ID], { description: "Ids of records that implement Node, at most 100." })
  ids!: readonly string[];
}

@Resolver()
export class NodeResolver {
  @Query(() => Node, {
    description: `Returns the record with the given id; for the id of a conversation, its Chat. ${RULES}.`,
  })
  node(@Args() { id }: NodeArgs, @Ctx() context: Context) {
    return nodeOf(id, context);
  }

  @Query(() => [Node], {
    description: `Returns the records with the given ids, in the order of the ids; for the id of a conversation, its Chat. The cost is the number of ids. ${RULES}: the entry is null, and the others keep their data.`,
  })
  nodes(@Args() { ids }: NodesArgs, @Ctx() context: Context) {
    const entries = ids.map((id) => nodeOf(id, context).catch((error: unknown) => error));
    return Promise.all(entries) as Promise<Node[]>; // both engines report an entry that is an error at its path
  }
}

/** @throws NODE_NOT_FOUND, and as the root field of the record's type */
export async function nodeOf(id: string, { scope, caller }: Context): Promise<Node> {
  const located = await locate(scope, id);
  if (!located) throw notFound("Node", id);
  const { type, root, read } = located;
  admit(root === undefined ? accessOfType(type, TYPES[type]!) : accessOf(root, false), caller);
  const record = await read(caller!); // the operation has admitted only callers with a credential
  if (!record) throw notFound("Node", id);
  return { ...record, id, __typename: type } as Node;
}
