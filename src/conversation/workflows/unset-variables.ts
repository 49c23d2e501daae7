import { listed, namesIn, shortened } from "../../assistants/configurations/variable-names";
import type { JsonObject } from "../../platform/json/json-object";
import { textsIn } from "../../assistants/configurations/filled-texts";
import { Values } from "../functions/variables";
import { edgesFrom, type Flow, type WorkflowEdge, type WorkflowNode } from "./flow";
import { describe, type WorkflowProblem } from "./problems";

/** An assistant of a workflow. */
export interface FlowAssistant {
  /** Test values of the assistant. */
  readonly variables: JsonObject | null;
  /** Names of the variables in its configurations, of all channels. */
  readonly names: readonly string[];
}

/** Whether the workflow itself may set a variable: from a reply or one of its fields, or with what the model collects. */
export function settersOf({ nodes, edges }: Flow): (name: string) => boolean {
  const collected = new Set(edges.flatMap(({ collects }) => collects));
  const results = nodes.flatMap(({ resultVariable }) => resultVariable ?? []);
  return (name) =>
    collected.has(name) || results.some((result) => name === result || name.startsWith(`${result}.`));
}

/** The texts that a PROMPT node adds to those of its assistant: its instructions, and its edges for the model. */
export const promptTextsOf = (flow: Flow, node: WorkflowNode): string[] => [
  ...textsOfNode(node),
  ...edgesFrom(flow, node.id)
    .filter(({ kind }) => kind === "MODEL")
    .flatMap(textsOfEdge),
];

/**
 * A problem for each node and edge that uses variables which nothing is known to set. The caller of a conversation may
 * set them, so the workflow can run.
 * @param speakers assistants of PROMPT nodes, by id
 * @param called names of the variables in the functions that ACTION nodes call, by the id of the node
 */
export function unsetVariables(
  flow: Flow,
  speakers: ReadonlyMap<string, FlowAssistant>,
  called: ReadonlyMap<string, readonly string[]>,
): WorkflowProblem[] {
  const isSetByFlow = settersOf(flow);
  const everyValue = new Values([...speakers.values()].map(({ variables }) => variables));
  return flow.nodes.flatMap((node) => {
    const speaker = node.type === "PROMPT" ? speakers.get(node.assistantId ?? "") : undefined;
    // Which assistant has spoken before another node depends on the way there.
    const values = speaker ? new Values([speaker.variables]) : everyValue;
    const report = (names: readonly string[], user: string, edgeId: string | null) =>
      problemOf(
        [...new Set(names)].filter((name) => !values.isSet(name) && !isSetByFlow(name)),
        user,
        { nodeId: node.id, edgeId },
      );
    const own = textsOfNode(node).flatMap(namesIn);
    return [
      ...report([...own, ...(speaker?.names ?? []), ...(called.get(node.id) ?? [])], describe(node), null),
      ...edgesFrom(flow, node.id).flatMap((edge) =>
        report(textsOfEdge(edge).flatMap(namesIn), `an edge of ${describe(node)}`, edge.id),
      ),
    ];
  });
}

function textsOfNode({ type, instructions, message, arguments: args }: WorkflowNode): string[] {
  if (type === "PROMPT") return [instructions ?? ""];
  if (type === "END") return [message ?? ""];
  return type === "ACTION" ? textsIn(args) : [];
}

function textsOfEdge({ kind, description, variable, value }: WorkflowEdge): string[] {
  if (kind === "MODEL") return [description ?? ""];
  return kind === "VARIABLE" ? [`{${variable ?? ""}}`, value ?? ""] : [];
}

/** Names in one problem. */
const MOST_NAMES = 1_000;

function problemOf(
  names: readonly string[],
  user: string,
  at: Pick<WorkflowProblem, "nodeId" | "edgeId">,
): WorkflowProblem[] {
  if (names.length === 0) return [];
  const all = listed(
    names.map((name) => `{${shortened(name)}}`),
    MOST_NAMES,
  );
  return [
    {
      code: "UNSET_VARIABLE",
      severity: "WARNING",
      message: `Nothing sets ${all}, used by ${user}. Set values in variables of the assistant or of each conversation.`,
      ...at,
    },
  ];
}
