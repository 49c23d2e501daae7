import { Ctx, FieldResolver, Resolver, Root } from "type-graphql";
import { Deployments } from "../../src/conversation/workflows/deployments";
import { WorkflowNodes } from "../../src/conversation/workflows/workflow-nodes";
import { Workflows } from "../../src/conversation/workflows/workflows";
import { Call } from "../calls/calls";
import { Chat } from "../chats/chats";
import type { Context } from "../core/context";
import { Deployment } from "./deployments";
import { Workflow } from "./workflow";
import { WorkflowNode } from "./graph";

@Resolver(() => Chat)
export class ChatWorkflowResolver {
  @FieldResolver(() => Workflow, {
    nullable: true,
    description: "The workflow that it runs; null without one, and once that was deleted.",
  })
  workflow(@Root() { workflowId }: Chat, @Ctx() { scope }: Context) {
    return workflowId === null ? null : scope.of(Workflows).find(workflowId);
  }

  @FieldResolver(() => WorkflowNode, {
    nullable: true,
    description: "Where in its workflow it stands, or stood at its end.",
  })
  workflowNode(@Root() { workflowNodeId }: Chat, @Ctx() { scope }: Context) {
    return workflowNodeId === null ? null : scope.of(WorkflowNodes).find(workflowNodeId);
  }

  @FieldResolver(() => Deployment, {
    nullable: true,
    description: "The deployment that it was begun with; null without one, and once that was deleted.",
  })
  deployment(@Root() { deploymentId }: Chat, @Ctx() { scope }: Context) {
    return deploymentId === null ? null : scope.of(Deployments).find(deploymentId);
  }
}

@Resolver(() => Call)
export class CallWorkflowResolver {
  @FieldResolver(() => Workflow, {
    nullable: true,
    description: "The workflow that it runs; null without one, and once that was deleted.",
  })
  workflow(@Root() { workflowId }: Call, @Ctx() { scope }: Context) {
    return workflowId === null ? null : scope.of(Workflows).find(workflowId);
  }

  @FieldResolver(() => Deployment, {
    nullable: true,
    description: "The deployment that it was placed with; null without one, and once that was deleted.",
  })
  deployment(@Root() { deploymentId }: Call, @Ctx() { scope }: Context) {
    return deploymentId === null ? null : scope.of(Deployments).find(deploymentId);
  }
}
