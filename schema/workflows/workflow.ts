import { ID, ObjectType } from "type-graphql";
import { Field } from "../core/decorators";
import { Node } from "../core/node";

@ObjectType({
  implements: Node,
  description:
    "Graph that guides a conversation from node to node: nodes let assistants speak, call functions or check variables; edges connect them.",
  simpleResolvers: true,
})
export class Workflow {
  @Field(() => ID, { description: "Opaque id; ids sort roughly by creation time." })
  id!: string;
  @Field({ description: "Name, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "Purpose of the workflow; null if none was given." })
  description!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Key that identifies the workflow in files of the command `parley`, unique among the organization's workflows; null if it has none.",
  })
  key!: string | null;
  @Field({ description: "Creation time." })
  createdAt!: Date;
  @Field({ description: "Time of the last change of the workflow itself; nodes and edges have their own." })
  updatedAt!: Date;
  projectId!: string | null;
}
