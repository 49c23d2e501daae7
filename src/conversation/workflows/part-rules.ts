import { VARIABLE_NAME, VARIABLE_NAME_RULE } from "../../assistants/configurations/variable-names";
import type { Problem } from "../../platform/errors";
import type { WorkflowEdgeInput } from "./workflow-edges";
import type { WorkflowNodeInput } from "./workflow-nodes";

type EdgeFields = Omit<WorkflowEdgeInput, "fromNodeId" | "toNodeId">;

/** Per workflow. */
export const MAX_NODES = 200;
export const MAX_EDGES = 1_000;
/** Models get these names as properties of a function's parameters, which providers limit to ASCII. */
const COLLECTED_NAME = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/;
const WITHOUT_VALUE: readonly unknown[] = ["IS_SET", "IS_NOT_SET"];

/** Invalid fields of a node. */
export const problemsOfNode = ({ resultVariable }: Pick<WorkflowNodeInput, "resultVariable">): Problem[] =>
  resultVariable == null || VARIABLE_NAME.test(resultVariable)
    ? []
    : [{ path: "resultVariable", message: `must consist of ${VARIABLE_NAME_RULE}` }];

/** Missing and invalid fields of an edge of its kind. */
export function problemsOfEdge({
  kind,
  description,
  collects = [],
  variable,
  operator,
  value,
  functionName,
}: EdgeFields): Problem[] {
  const problems: Problem[] = [];
  const need = (path: string, value: unknown) => {
    if (value == null) problems.push({ path, message: `is required for an edge of the kind ${kind}` });
  };
  if (kind === "MODEL") need("description", description);
  if (kind === "FUNCTION") need("functionName", functionName);
  if (kind === "VARIABLE") {
    need("variable", variable);
    need("operator", operator);
    if (operator != null && !WITHOUT_VALUE.includes(operator)) need("value", value);
  }
  if (variable != null && !VARIABLE_NAME.test(variable))
    problems.push({ path: "variable", message: `must consist of ${VARIABLE_NAME_RULE}` });
  collects.forEach((name, index) => {
    if (!COLLECTED_NAME.test(name))
      problems.push({
        path: `collects.${index}`,
        message: `must consist of 1 to 64 ASCII ${VARIABLE_NAME_RULE}`,
      });
  });
  return problems;
}
