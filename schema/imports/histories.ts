import { Arg, Args, ArgsType, Ctx, ID, Int, ObjectType, Resolver } from "type-graphql";
import { Projects } from "../../src/account/projects/projects";
import { importFacts } from "../../src/chats/chats/import-facts";
import { Drafts } from "../../src/assistants/versions/drafts";
import { importVersions, type ImportedVersion } from "../../src/assistants/versions/import-versions";
import { Deployments } from "../../src/conversation/workflows/deployments";
import { importWorkflow } from "../../src/conversation/workflows/import-workflow";
import { AssistantDraft } from "../assistants/drafts";
import type { Context } from "../core/context";
import { Field, Mutation } from "../core/decorators";
import { Rule } from "../core/rules";
import { Project } from "../projects/projects";
import { Deployment } from "../workflows/deployments";
import { Workflow } from "../workflows/workflow";
import { OPERATOR } from "./imports";
import { ImportEndUserFactInput } from "./fact-inputs";
import { ImportProjectInput } from "./inputs";
import { ImportAssistantDraftInput, ImportAssistantVersionInput } from "./version-inputs";
import { ImportDeploymentInput, ImportWorkflowInput } from "./workflow-inputs";

const ASSISTANT = "Id of the assistant.";

@ObjectType({ description: "Result of an import of versions.", simpleResolvers: true })
export class VersionImport {
  @Field(() => Int, { description: "Number of versions that were stored." })
  imported!: number;
  @Field(() => [Int], { description: "Numbers of versions that existed; they were left as they are." })
  existing!: readonly number[];
}

@ArgsType()
class ImportVersionsArgs {
  @Field(() => ID, { description: ASSISTANT })
  assistantId!: string;
  @Rule({ maxItems: 100 })
  @Field(() => [ImportAssistantVersionInput], { description: "The versions, at most 100." })
  versions!: ImportAssistantVersionInput[];
}

@ObjectType({ description: "Result of an import of facts.", simpleResolvers: true })
export class FactImport {
  @Field(() => Int, { description: "Number of facts that were stored." })
  imported!: number;
  @Field(() => Int, {
    description:
      "Number of facts that were not stored, because they were known (same text and `signed`) or older than the 50 newest signed or unsigned facts that an assistant keeps.",
  })
  omitted!: number;
}

@ArgsType()
class ImportEndUserFactsArgs {
  @Rule({ minLength: 1, maxLength: 4096 })
  @Field({
    description: "Your id for the end user; 1 to 4,096 characters, of which new chats take at most 29.",
  })
  uniqueId!: string;
  @Rule({ maxItems: 100 })
  @Field(() => [ImportEndUserFactInput], { description: "The facts, at most 100." })
  facts!: ImportEndUserFactInput[];
}

/** Imports of records that other services than Parley do not have. */
@Resolver()
export class HistoryImportResolver {
  @Mutation(() => Project, {
    description: `Creates a project of another service with its id, or updates the one with this id to match. ${OPERATOR}.`,
  })
  importProject(
    @Arg("input", { description: "The project." }) input: ImportProjectInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Projects).import(input);
  }

  @Mutation(() => Workflow, {
    description: `Creates a workflow of another service with its id, nodes and edges, or updates the one with this id to match. ${OPERATOR}. Errors: PROJECT_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NODE_NOT_FOUND; CONFLICT if another workflow has the key.`,
  })
  importWorkflow(
    @Arg("input", { description: "The workflow." }) input: ImportWorkflowInput,
    @Ctx() { scope }: Context,
  ) {
    return importWorkflow(scope, input);
  }

  @Mutation(() => Deployment, {
    description: `Creates a deployment of another service with its id, or updates the one with this id to match. ${OPERATOR}. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND, TELEPHONY_CONNECTION_NOT_FOUND; CONFLICT if another deployment has the key.`,
  })
  importDeployment(
    @Arg("input", { description: "The deployment." }) input: ImportDeploymentInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Deployments).import(input);
  }

  @Mutation(() => VersionImport, {
    description: `Stores earlier versions of an assistant of another service with their numbers. Those that exist stay as they are. ${OPERATOR}. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY.`,
  })
  importAssistantVersions(@Args() { assistantId, versions }: ImportVersionsArgs, @Ctx() { scope }: Context) {
    return importVersions(scope, assistantId, versions as object as ImportedVersion[]); // the form of a document
  }

  @Mutation(() => AssistantDraft, {
    description: `Stores the draft of an assistant of another service in place of the one here. ${OPERATOR}. Errors: ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND.`,
  })
  importAssistantDraft(
    @Arg("assistantId", () => ID, { description: ASSISTANT }) assistantId: string,
    @Arg("input", { description: "The draft." }) { basedOn, updatedAt, ...input }: ImportAssistantDraftInput,
    @Ctx() { scope }: Context,
  ) {
    return scope.of(Drafts).save(assistantId, input as object, { basedOn, updatedAt });
  }

  @Mutation(() => FactImport, {
    description: `Adds facts that assistants of another service remember about an end user. Those that are known stay as they are. ${OPERATOR}. A deleted assistant may have facts. Errors: ASSISTANT_NOT_FOUND.`,
  })
  importEndUserFacts(@Args() { uniqueId, facts }: ImportEndUserFactsArgs, @Ctx() { scope }: Context) {
    return importFacts(scope, uniqueId, facts);
  }
}
