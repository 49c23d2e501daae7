import { Field, ID, ObjectType } from "type-graphql";

@ObjectType({
  description:
    "A conversation that moves from node to node: assistants speak at some, functions are called and variables looked at by others.",
  simpleResolvers: true,
})
export class Workflow {
  @Field(() => ID, { description: "Opaque; sorts by creation." })
  id!: string;
  @Field({ description: "What it is called, 1 to 255 characters." })
  name!: string;
  @Field(() => String, { nullable: true, description: "What it is for." })
  description!: string | null;
  @Field({ description: "When it was made." })
  createdAt!: Date;
  @Field({ description: "When it was last changed; its nodes and edges have times of their own." })
  updatedAt!: Date;
  projectId!: string | null;
}
