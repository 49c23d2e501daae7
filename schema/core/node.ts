import { ID, InterfaceType } from "type-graphql";
import { Field } from "./decorators";

/** Types that implement it have a row in schema/nodes/kinds.ts. */
@InterfaceType({ description: "Record that `node` and `nodes` return by its id." })
export abstract class Node {
  @Field(() => ID, { description: "Id of the record. Unique among all records that implement Node." })
  id!: string;
}
