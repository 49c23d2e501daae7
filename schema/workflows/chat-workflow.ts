import { Ctx, Resolver } from "type-graphql";
import { Deployments } from "../../src/conversation/workflows/deployments";
import { WorkflowNodes } from "../../src/conversation/workflows/workflow-nodes";
import { Workflows } from "../../src/conversation/workflows/workflows";
import { Call } from "../calls/calls";
import { Chat } from "../chats/chats";
import type { Context } from "../core/context";
import { FieldResolver, Root } from "../core/decorators";
import { Deployment } from "./deployments";
import { Workflow } from "./workflow";
import { WorkflowNode } from "./graph";

@Resolver(() => Chat)
export class ChatWorkflowResolver {
  @FieldResolver(() => Workflow, {
    nullable: true,
    description: "Workflow of the chat; null if there is none or it has been deleted.",
  })
  workflow(@Root() { workflowId }: Chat, @Ctx() { scope }: Context) {
    return workflowId === null ? null : scope.of(Workflows).find(workflowId);
  }

  @FieldResolver(() => WorkflowNode, {
    nullable: true,
    description:
      "Current node of the workflow, or the last one if the chat has ended; null if there is none.",
  })
  workflowNode(@Root() { workflowNodeId }: Chat, @Ctx() { scope }: Context) {
    return workflowNodeId === null ? null : scope.of(WorkflowNodes).find(workflowNodeId);
  }

  @FieldResolver(() => Deployment, {
    nullable: true,
    description: "Deployment that the chat was started with; null if there is none or it has been deleted.",
  })
  deployment(@Root() { deploymentId }: Chat, @Ctx() { scope }: Context) {
    return deploymentId === null ? null : scope.of(Deployments).find(deploymentId);
  }
}

@Resolver(() => Call)
export class CallWorkflowResolver {
  @FieldResolver(() => Workflow, {
    nullable: true,
    description: "Workflow of the call; null if there is none or it has been deleted.",
  })
  workflow(@Root() { workflowId }: Call, @Ctx() { scope }: Context) {
    return workflowId === null ? null : scope.of(Workflows).find(workflowId);
  }

  @FieldResolver(() => Deployment, {
    nullable: true,
    description: "Deployment that the call was placed with; null if there is none or it has been deleted.",
  })
  deployment(@Root() { deploymentId }: Call, @Ctx() { scope }: Context) {
    return deploymentId === null ? null : scope.of(Deployments).find(deploymentId);
  }
}
