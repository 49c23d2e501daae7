/** What an operation does, for an agent that decides whether to ask before it calls its tool. */
export interface AgentTool {
  readonly effect: "reads" | "adds" | "sets" | "deletes";
  /** It reaches people or servers outside of the service. */
  readonly reachesOut?: true;
  /** Related records to show with the result, by field. Their plain fields are shown, and no secrets. */
  readonly shows?: readonly string[];
}

const READS = { effect: "reads" } as const;
const ADDS = { effect: "adds" } as const;
const SETS = { effect: "sets" } as const;
const DELETES = { effect: "deletes" } as const;
const CONFIGURATIONS = ["voice", "sms", "chat", "theme"] as const;
const GRAPH = ["nodes", "edges", "problems"] as const;

/**
 * Operations that are tools of the MCP server: those that build, test and inspect assistants. Not among them: keys,
 * tokens and other secrets, uploads, deletions of what people said, and calls, which cost money and reach a person.
 */
export const AGENT_TOOLS: Readonly<Record<string, AgentTool>> = {
  assistants: READS,
  assistantTemplates: READS,
  assistant: { ...READS, shows: [...CONFIGURATIONS, "toolServers"] },
  createAssistant: { ...ADDS, shows: CONFIGURATIONS },
  duplicateAssistant: { ...ADDS, shows: CONFIGURATIONS },
  updateAssistant: SETS,
  deleteAssistant: DELETES,
  updateVoiceConfiguration: SETS,
  updateSmsConfiguration: SETS,
  updateChatConfiguration: SETS,
  updateThemeConfiguration: SETS,
  updateRagSettings: SETS,
  updateAllowedOrigins: SETS,
  assistantVersion: READS,
  assistantDiff: READS,
  restoreAssistantVersion: SETS,
  describeAssistantVersion: SETS,
  saveAssistantDraft: SETS,
  publishAssistantDraft: SETS,
  discardAssistantDraft: DELETES,
  updateAssistantDocument: SETS,
  createAssistantFromDocument: { ...ADDS, shows: CONFIGURATIONS },
  attachFile: SETS,
  detachFile: SETS,
  testFunction: { ...ADDS, reachesOut: true },
  updateToolServers: { ...SETS, shows: ["toolServers"] },
  testToolServer: { ...ADDS, reachesOut: true },

  startChat: { ...ADDS, reachesOut: true, shows: ["messages"] },
  postMessage: { ...ADDS, reachesOut: true },
  endChat: SETS,
  chats: READS,
  chat: { ...READS, shows: ["messages"] },
  log: READS,
  logs: READS,
  analytics: READS,
  endUser: READS,
  endUsers: READS,

  projects: READS,
  project: READS,
  createProject: ADDS,
  updateProject: SETS,
  files: READS,
  file: READS,

  webhookDestinations: READS,
  webhookDestination: READS,
  events: READS,
  event: READS,
  delivery: READS,
  testWebhookDestination: { ...ADDS, reachesOut: true },
  sendSampleEvents: { ...ADDS, reachesOut: true },

  workflows: READS,
  workflow: { ...READS, shows: GRAPH },
  createWorkflow: { ...ADDS, shows: GRAPH },
  updateWorkflow: SETS,
  deleteWorkflow: DELETES,
  replaceWorkflowGraph: { ...SETS, shows: GRAPH },
  createWorkflowNode: ADDS,
  updateWorkflowNode: SETS,
  deleteWorkflowNode: DELETES,
  createWorkflowEdge: ADDS,
  updateWorkflowEdge: SETS,
  deleteWorkflowEdge: DELETES,
  deployments: READS,
  deployment: READS,
  calls: READS,
  call: READS,
};
