import { ID, InputType } from "type-graphql";
import { MAX_EDGES, MAX_NODES } from "../../src/conversation/workflows/part-rules";
import { Field } from "../core/decorators";
import { Rule } from "../core/rules";
import { CreateDeploymentInput } from "../workflows/deployments";
import { CreateWorkflowEdgeInput, CreateWorkflowInput, CreateWorkflowNodeInput } from "../workflows/inputs";
import { CREATED, FOREIGN_ID, KEPT_ID, UPDATED } from "./inputs";

@InputType({ description: "Node of a workflow of another service." })
export class ImportWorkflowNodeInput extends CreateWorkflowNodeInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Field(() => Date, { nullable: true, description: CREATED })
  createdAt?: Date | null;
  @Field(() => Date, { nullable: true, description: UPDATED })
  updatedAt?: Date | null;
}

@InputType({ description: "Edge of a workflow of another service." })
export class ImportWorkflowEdgeInput extends CreateWorkflowEdgeInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Field(() => Date, { nullable: true, description: CREATED })
  createdAt?: Date | null;
  @Field(() => Date, { nullable: true, description: UPDATED })
  updatedAt?: Date | null;
}

@InputType({
  description: "Workflow of another service. Nodes and edges that are not listed are deleted.",
})
export class ImportWorkflowInput extends CreateWorkflowInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Field(() => Date, { nullable: true, description: CREATED })
  createdAt?: Date | null;
  @Field(() => Date, { nullable: true, description: UPDATED })
  updatedAt?: Date | null;
  @Rule({ maxItems: MAX_NODES })
  @Field(() => [ImportWorkflowNodeInput], { description: "All nodes, at most 200." })
  nodes!: ImportWorkflowNodeInput[];
  @Rule({ maxItems: MAX_EDGES })
  @Field(() => [ImportWorkflowEdgeInput], { description: "All edges, at most 1,000." })
  edges!: ImportWorkflowEdgeInput[];
}

@InputType({ description: "Deployment of another service." })
export class ImportDeploymentInput extends CreateDeploymentInput {
  @Rule(FOREIGN_ID)
  @Field(() => ID, { description: KEPT_ID })
  id!: string;
  @Field(() => Date, { nullable: true, description: CREATED })
  createdAt?: Date | null;
  @Field(() => Date, { nullable: true, description: UPDATED })
  updatedAt?: Date | null;
}
