import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, UNKNOWN_ID } from "../support/factories";
import { buildFlow, newFlow } from "../support/flows";
import { connect } from "../support/sms";

const running = useApp();

let assistantId: string;
let templateId: string;
beforeAll(async () => {
  assistantId = await newAssistant(running.api);
  const { data } = await running.api.get("/rest/v1/assistants/templates", 200);
  templateId = data[0].id;
});

const project = async (): Promise<string> =>
  (await running.api.gql('mutation { createProject(input: { name: "P" }) { id } }')).createProject.id;

const ADD_NODE = `mutation ($id: ID!, $input: CreateWorkflowNodeInput!) { createWorkflowNode(workflowId: $id, input: $input) {
  id type name instructions functionName arguments resultVariable message endReason metadata assistant { id } } }`;
const CHANGE_NODE = `mutation ($id: ID!, $input: UpdateWorkflowNodeInput!) { updateWorkflowNode(id: $id, input: $input) {
  id type name instructions functionName arguments resultVariable message endReason metadata assistant { id } } }`;
const ADD_EDGE = `mutation ($id: ID!, $input: CreateWorkflowEdgeInput!) { createWorkflowEdge(workflowId: $id, input: $input) {
  id fromNodeId toNodeId kind rank description collects variable operator value functionName toolName } }`;
const CHANGE_EDGE = `mutation ($id: ID!, $input: UpdateWorkflowEdgeInput!) { updateWorkflowEdge(id: $id, input: $input) {
  id fromNodeId toNodeId kind rank description collects variable operator value functionName toolName } }`;
const DEPLOYMENT =
  "id type enabled telephonyConnectionId telephonyConnection { id } project { id } assistant { id } workflow { id }";
const DEPLOY = `mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { ${DEPLOYMENT} } }`;
const REDEPLOY = `mutation ($id: ID!, $input: UpdateDeploymentInput!) { updateDeployment(id: $id, input: $input) { ${DEPLOYMENT} } }`;
const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id deployment { id } } }";

/** Names of the fields that an operation refuses. */
async function refused(document: string, variables: Record<string, unknown>): Promise<string[]> {
  const { extensions, message } = await running.api.gqlError(document, variables);
  expect(extensions.code).toBe("BAD_USER_INPUT");
  // Values that cannot be coerced are reported by graphql-js in its own format.
  const coercing = /at "input\.(\w+)"|Field "(\w+)" of required/.exec(message) as string[] | null;
  if (coercing) return coercing.slice(1).filter(Boolean);
  return extensions.details.map(({ path }: { path: string }) => path.replace(/^input\./, ""));
}
const codeOf = async (document: string, variables: Record<string, unknown>) =>
  (await running.api.gqlError(document, variables)).extensions.code;

describe("workflows", () => {
  test("are created, listed by project, changed and deleted with everything in them", async () => {
    const { api } = running;
    const [one, two] = [await project(), await project()];
    const flow = await buildFlow(api, { assistantId, name: "First", projectId: one });
    const other = await newFlow(api, {}, [], { name: "Second", description: "d", projectId: two });
    const list = async (projectId?: string) =>
      (
        await api.gql(
          "query ($projectId: ID) { workflows(projectId: $projectId) { id nodes { name } edges { kind } project { id } problems { code } } }",
          {
            projectId,
          },
        )
      ).workflows;
    expect(await list(one)).toEqual([
      {
        id: flow.workflowId,
        nodes: [{ name: "start" }, { name: "talk" }, { name: "end" }],
        edges: [{ kind: "DEFAULT" }, { kind: "MODEL" }],
        project: { id: one },
        problems: [],
      },
    ]);
    expect((await list()).map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining([other.workflowId, flow.workflowId]),
    );
    const change = `mutation ($id: ID!, $input: UpdateWorkflowInput!) { updateWorkflow(id: $id, input: $input) { name description project { id } } }`;
    const changed = await api.gql(change, { id: other.workflowId, input: { name: "New", projectId: null } });
    expect(changed.updateWorkflow).toEqual({ name: "New", description: "d", project: null });
    const { createDeployment } = await api.gql(DEPLOY, {
      input: { type: "SMS", workflowId: flow.workflowId },
    });
    await api.gql("mutation ($id: ID!) { deleteWorkflow(id: $id) { id } }", { id: flow.workflowId });
    expect(await list(one)).toEqual([]);
    expect(await codeOf("query ($id: ID!) { deployment(id: $id) { id } }", createDeployment)).toBe(
      "DEPLOYMENT_NOT_FOUND",
    );
    expect(await codeOf(CHANGE_NODE, { id: flow.nodes.talk, input: { name: "x" } })).toBe(
      "WORKFLOW_NODE_NOT_FOUND",
    );
  });

  test("survive the deletion of their project", async () => {
    const { api } = running;
    const projectId = await project();
    const { workflowId } = await newFlow(api, {}, [], { name: "F", projectId });
    await api.gql("mutation ($id: ID!) { deleteProject(id: $id) { id } }", { id: projectId });
    const { workflow } = await api.gql("query ($id: ID!) { workflow(id: $id) { project { id } } }", {
      id: workflowId,
    });
    expect(workflow.project).toBeNull();
  });

  test.each([
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: "x".repeat(256) }, "name"],
    [{ name: "a", description: "\0" }, "description"],
  ])("cannot be created with %j", async (input, field) => {
    const make = "mutation ($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }";
    expect(await refused(make, { input })).toEqual([field]);
  });

  test("require an existing project", async () => {
    const make = "mutation ($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }";
    expect(await codeOf(make, { input: { name: "a", projectId: UNKNOWN_ID } })).toBe("PROJECT_NOT_FOUND");
  });
});

describe("nodes", () => {
  test("store the given values; a change keeps the others", async () => {
    const { api } = running;
    const { workflowId: id } = await newFlow(api, {});
    const given = {
      type: "ACTION",
      name: "Look up",
      instructions: "i",
      functionName: "look_up",
      arguments: { order: "{number}" },
      resultVariable: "order.last",
      message: "m",
      endReason: "r",
      metadata: { x: 5 },
    };
    const { createWorkflowNode: node } = await api.gql(ADD_NODE, { id, input: { ...given, assistantId } });
    expect(node).toEqual({ id: expect.any(String), ...given, assistant: { id: assistantId } });
    const change = { name: "New", assistantId: null, functionName: null, metadata: {} };
    const { updateWorkflowNode } = await api.gql(CHANGE_NODE, { id: node.id, input: change });
    expect(updateWorkflowNode).toEqual({
      ...node,
      name: "New",
      assistant: null,
      functionName: null,
      metadata: {},
    });
  });

  test.each([
    [{ name: "" }, "name"],
    [{ name: null }, "name"],
    [{ type: null }, "type"],
    [{ type: "OTHER" }, "type"],
    [{ instructions: "" }, "instructions"],
    [{ functionName: "x".repeat(65) }, "functionName"],
    [{ arguments: null }, "arguments"],
    [{ arguments: [] }, "arguments"],
    [{ metadata: null }, "metadata"],
    [{ resultVariable: "not a name" }, "resultVariable"],
    [{ message: "" }, "message"],
    [{ endReason: "x".repeat(256) }, "endReason"],
  ])("refuse %j", async (wrong, field) => {
    const { workflowId: id, nodes } = await newFlow(running.api, { start: { type: "START" } });
    expect(await refused(ADD_NODE, { id, input: { type: "START", name: "n", ...wrong } })).toEqual([field]);
    expect(await refused(CHANGE_NODE, { id: nodes.start, input: wrong })).toEqual([field]);
  });

  test("accept an existing assistant that is not a template", async () => {
    const { workflowId: id } = await newFlow(running.api, {});
    const input = { type: "PROMPT", name: "n" };
    expect(await codeOf(ADD_NODE, { id, input: { ...input, assistantId: UNKNOWN_ID } })).toBe(
      "ASSISTANT_NOT_FOUND",
    );
    expect(await codeOf(ADD_NODE, { id, input: { ...input, assistantId: templateId } })).toBe(
      "TEMPLATE_READ_ONLY",
    );
    expect(await codeOf(ADD_NODE, { id: UNKNOWN_ID, input })).toBe("WORKFLOW_NOT_FOUND");
  });

  test("are deleted with their edges", async () => {
    const { workflowId: id, nodes } = await buildFlow(running.api, { assistantId });
    await running.api.gql("mutation ($id: ID!) { deleteWorkflowNode(id: $id) { id } }", { id: nodes.talk });
    const { workflow } = await running.api.gql(
      "query ($id: ID!) { workflow(id: $id) { nodes { name } edges { id } } }",
      { id },
    );
    expect(workflow).toEqual({ nodes: [{ name: "start" }, { name: "end" }], edges: [] });
  });
});

describe("edges", () => {
  const graph = () => newFlow(running.api, { a: { type: "PROMPT", name: "Ärzte & Co" }, b: { type: "END" } });

  test("store the given values and the tool by which the model chooses them", async () => {
    const { api } = running;
    const { workflowId: id, nodes } = await graph();
    const ends = { fromNodeId: nodes.b, toNodeId: nodes.a };
    const { createWorkflowEdge: bare } = await api.gql(ADD_EDGE, { id, input: ends });
    const nothing = { description: null, variable: null, operator: null, value: null, functionName: null };
    expect(bare).toEqual({
      id: expect.any(String),
      ...ends,
      kind: "DEFAULT",
      rank: 0,
      collects: [],
      ...nothing,
      toolName: null,
    });
    const model = { kind: "MODEL", description: "When.", collects: ["day", "hour.of"], rank: 3 };
    const { updateWorkflowEdge: chosen } = await api.gql(CHANGE_EDGE, { id: bare.id, input: model });
    expect(chosen).toEqual({ ...bare, ...model, toolName: "go_to_arzte_co" });
    const { createWorkflowEdge: second } = await api.gql(ADD_EDGE, {
      id,
      input: { ...ends, ...model, rank: 4 },
    });
    expect(second.toolName).toBe("go_to_arzte_co_2");
    await api.gql("mutation ($id: ID!) { deleteWorkflowEdge(id: $id) { id } }", { id: bare.id });
    expect(await codeOf(CHANGE_EDGE, { id: bare.id, input: {} })).toBe("WORKFLOW_EDGE_NOT_FOUND");
  });

  test.each([
    [{ kind: "MODEL" }, ["description"]],
    [{ kind: "VARIABLE" }, ["variable", "operator"]],
    [{ kind: "VARIABLE", variable: "a", operator: "EQUALS" }, ["value"]],
    [{ kind: "VARIABLE", variable: "a b", operator: "IS_SET" }, ["variable"]],
    [{ kind: "FUNCTION" }, ["functionName"]],
    [{ kind: "OTHER" }, ["kind"]],
    [{ kind: null }, ["kind"]],
    [{ rank: 0.5 }, ["rank"]],
    [{ rank: 1_000_001 }, ["rank"]],
    [{ collects: ["fine", "not fine"] }, ["collects.1"]],
    [{ collects: Array.from({ length: 21 }, (_, index) => `v${index}`) }, ["collects"]],
    [{ description: "" }, ["description"]],
  ])("refuse %j", async (wrong, fields) => {
    const { workflowId: id, nodes } = await graph();
    const input = { fromNodeId: nodes.a, toNodeId: nodes.b };
    expect(await refused(ADD_EDGE, { id, input: { ...input, ...wrong } })).toEqual(fields);
    const { createWorkflowEdge } = await running.api.gql(ADD_EDGE, { id, input });
    expect(await refused(CHANGE_EDGE, { id: createWorkflowEdge.id, input: wrong })).toEqual(fields);
  });

  test("require the values of their kind", async () => {
    const { workflowId: id, nodes } = await graph();
    const input = { fromNodeId: nodes.a, toNodeId: nodes.b, kind: "MODEL", description: "When." };
    const { createWorkflowEdge } = await running.api.gql(ADD_EDGE, { id, input });
    expect(await refused(CHANGE_EDGE, { id: createWorkflowEdge.id, input: { description: null } })).toEqual([
      "description",
    ]);
  });

  test("connect nodes of their own workflow only", async () => {
    const [{ workflowId: id, nodes }, other] = [await graph(), await graph()];
    const input = { fromNodeId: nodes.a, toNodeId: other.nodes.b };
    expect(await codeOf(ADD_EDGE, { id, input })).toBe("WORKFLOW_NODE_NOT_FOUND");
  });
});

describe("deployments", () => {
  test("are created, listed by project, changed and deleted", async () => {
    const { api } = running;
    const projectId = await project();
    const { workflowId } = await newFlow(api, {});
    const { id: telephonyConnectionId } = await connect(running, []);
    const input = { type: "PHONE_INBOUND", assistantId, projectId, telephonyConnectionId };
    const { createDeployment: made } = await api.gql(DEPLOY, { input });
    expect(made).toEqual({
      id: expect.any(String),
      type: "PHONE_INBOUND",
      enabled: true,
      telephonyConnectionId,
      telephonyConnection: { id: telephonyConnectionId },
      project: { id: projectId },
      assistant: { id: assistantId },
      workflow: null,
    });
    const list = "query ($projectId: ID) { deployments(projectId: $projectId) { id } }";
    expect((await api.gql(list, { projectId })).deployments).toEqual([{ id: made.id }]);
    expect((await api.gql(list)).deployments).toContainEqual({ id: made.id });
    const change = { enabled: false, type: "API", telephonyConnectionId: null, workflowId };
    const { updateDeployment: changed } = await api.gql(REDEPLOY, { id: made.id, input: change });
    expect(changed).toEqual({
      ...made,
      enabled: false,
      type: "API",
      telephonyConnectionId: null,
      telephonyConnection: null,
      assistant: null,
      workflow: { id: workflowId },
    });
    await api.gql("mutation ($id: ID!) { deleteDeployment(id: $id) { id } }", { id: made.id });
    expect((await api.gql(list, { projectId })).deployments).toEqual([]);
    expect(await codeOf(REDEPLOY, { id: made.id, input: {} })).toBe("DEPLOYMENT_NOT_FOUND");
    const lost = { ...input, telephonyConnectionId: UNKNOWN_ID };
    expect(await codeOf(DEPLOY, { input: lost })).toBe("TELEPHONY_CONNECTION_NOT_FOUND");
  });

  test("have either an assistant or a workflow", async () => {
    const { workflowId } = await newFlow(running.api, {});
    const fields = ["assistantId", "workflowId"];
    expect(await refused(DEPLOY, { input: { type: "API" } })).toEqual(fields);
    expect(await refused(DEPLOY, { input: { type: "API", assistantId, workflowId } })).toEqual(fields);
    const { createDeployment } = await running.api.gql(DEPLOY, { input: { type: "API", assistantId } });
    const { id } = createDeployment;
    expect(await refused(REDEPLOY, { id, input: { assistantId: null } })).toEqual(fields);
    expect(await refused(REDEPLOY, { id, input: { assistantId, workflowId } })).toEqual(fields);
  });

  test.each([
    [{ type: "OTHER" }, "type"],
    [{ type: null }, "type"],
    [{ enabled: null }, "enabled"],
    [{ enabled: "yes" }, "enabled"],
    [{ telephonyConnectionId: "" }, "telephonyConnectionId"],
  ])("refuse %j", async (wrong, field) => {
    const input = { type: "API", assistantId };
    expect(await refused(DEPLOY, { input: { ...input, ...wrong } })).toEqual([field]);
    const { createDeployment } = await running.api.gql(DEPLOY, { input });
    expect(await refused(REDEPLOY, { id: createDeployment.id, input: wrong })).toEqual([field]);
  });

  test.each([
    [{ assistantId: UNKNOWN_ID }, "ASSISTANT_NOT_FOUND"],
    [{ workflowId: UNKNOWN_ID }, "WORKFLOW_NOT_FOUND"],
    [{ projectId: UNKNOWN_ID }, "PROJECT_NOT_FOUND"],
  ])("with %j are not created: %s", async (wrong, code) => {
    const own = "projectId" in wrong ? { assistantId } : {};
    expect(await codeOf(DEPLOY, { input: { type: "API", ...own, ...wrong } })).toBe(code);
  });

  test("with a template are not created", async () => {
    expect(await codeOf(DEPLOY, { input: { type: "API", assistantId: templateId } })).toBe(
      "TEMPLATE_READ_ONLY",
    );
  });
});

describe("a chat can be started", () => {
  const deploy = async (input: object): Promise<string> =>
    (await running.api.gql(DEPLOY, { input })).createDeployment.id;

  test("with an enabled deployment whose type has its channel", async () => {
    const { workflowId } = await buildFlow(running.api, { assistantId });
    const TYPES = { TEXT_IFRAME: "TEXT", SMS: "SMS", VOICE_BUBBLE: "VOICE", API: "SMS" };
    for (const [type, channel] of Object.entries(TYPES)) {
      const deploymentId = await deploy({ type, workflowId });
      const { startChat } = await running.api.gql(START, { input: { deploymentId, channel } });
      expect(startChat.deployment).toEqual({ id: deploymentId });
    }
    const [sms, off] = [
      await deploy({ type: "SMS", workflowId }),
      await deploy({ type: "TEXT_BUBBLE", assistantId, enabled: false }),
    ];
    for (const deploymentId of [sms, off])
      expect(await codeOf(START, { input: { deploymentId } })).toBe("CHANNEL_DISABLED");
  });

  test("with one of an assistant, a workflow and a deployment", async () => {
    const { workflowId } = await buildFlow(running.api, { assistantId });
    expect(await refused(START, { input: {} })).toEqual(["assistantId", "workflowId", "deploymentId"]);
    expect(await refused(START, { input: { assistantId, workflowId } })).toEqual([
      "assistantId",
      "workflowId",
    ]);
    expect(await codeOf(START, { input: { workflowId: UNKNOWN_ID } })).toBe("WORKFLOW_NOT_FOUND");
    expect(await codeOf(START, { input: { deploymentId: UNKNOWN_ID } })).toBe("DEPLOYMENT_NOT_FOUND");
  });

  test("neither in a workflow with problems, nor on a channel that its first speaker has disabled", async () => {
    const broken = await newFlow(running.api, {});
    const error = await running.api.gqlError(START, { input: { workflowId: broken.workflowId } });
    expect(error.extensions).toMatchObject({
      code: "WORKFLOW_HAS_PROBLEMS",
      details: [{ path: "input.workflowId", message: expect.stringContaining("NO_START") }],
    });
    const silent = await newAssistant(running.api);
    await running.api.patch(`/rest/v1/assistants/${silent}/chat`, { chatMode: false }, 200);
    const { workflowId } = await buildFlow(running.api, { assistantId: silent });
    expect(await codeOf(START, { input: { workflowId } })).toBe("CHANNEL_DISABLED");
  });
});
