import { describe, expect, test } from "@jest/globals";
import type { WorkflowEdge } from "../../src/conversation/workflows/flow";
import { Values } from "../../src/conversation/functions/variables";
import { conditionHolds } from "../../src/conversation/workflows/route";

const edge = (operator: WorkflowEdge["operator"], value: string | null = null): WorkflowEdge => ({
  id: "edge",
  workflowId: "workflow",
  fromNodeId: "from",
  toNodeId: "to",
  kind: "VARIABLE",
  rank: 1,
  description: null,
  collects: [],
  variable: "amount",
  operator,
  value,
  functionName: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
});
const UNSET = new Values([{}, null]);
const holds = (operator: WorkflowEdge["operator"], amount: unknown, value: string) =>
  conditionHolds(edge(operator, value), new Values([{ amount }]));

describe("the condition of an edge", () => {
  test.each([
    ["EQUALS", 10, "10", true],
    ["EQUALS", "10.0", "10", true],
    ["EQUALS", 11, "10", false],
    ["EQUALS", " Yes ", "yes", true],
    ["EQUALS", true, "TRUE", true],
    ["EQUALS", { a: 1 }, '{"a":1}', true],
    ["NOT_EQUALS", 10, "10", false],
    ["NOT_EQUALS", 11, "10", true],
    ["CONTAINS", "Red wine", "WINE", true],
    ["CONTAINS", "Red wine", "white", false],
    ["GREATER", 10, "9", true],
    ["GREATER", 9, "10", false],
    ["GREATER", 10, "10", false],
    ["GREATER", "b", "a", true],
    ["GREATER", "a", "a", false],
    ["LESS", 9, "10", true],
    ["LESS", 10, "9", false],
    ["LESS", 10, "10", false],
    ["LESS", "a", "b", true],
    ["LESS", "a", "A", false],
  ] as [WorkflowEdge["operator"], unknown, string, boolean][])(
    "%s compares %j with %j: %j",
    (operator, amount, value, expected) => {
      expect(holds(operator, amount, value)).toBe(expected);
    },
  );

  test.each(["EQUALS", "CONTAINS", "GREATER", "LESS", "IS_SET"] as const)(
    "%s does not hold for a variable without a value",
    (operator) => {
      for (const values of [UNSET, new Values([{ amount: null }]), new Values([{ amount: "" }])])
        expect(conditionHolds(edge(operator, ""), values)).toBe(false);
    },
  );

  test.each(["NOT_EQUALS", "IS_NOT_SET"] as const)("%s holds for a variable without a value", (operator) => {
    for (const values of [UNSET, new Values([{ amount: null }]), new Values([{ amount: "" }])])
      expect(conditionHolds(edge(operator, "10"), values)).toBe(true);
  });

  test("compares with nothing if the value uses a variable without a value", () => {
    const amount = "5";
    for (const values of [
      new Values([{ amount }]),
      new Values([{ amount }], true),
      new Values([{ amount, limit: null }]),
    ]) {
      for (const operator of ["EQUALS", "CONTAINS", "GREATER", "LESS"] as const)
        expect([operator, conditionHolds(edge(operator, "{limit}"), values)]).toEqual([operator, false]);
      expect(conditionHolds(edge("NOT_EQUALS", "{limit}"), values)).toBe(true);
    }
  });

  test.each([0, false, "no"])("IS_SET holds for %j, and IS_NOT_SET does not", (amount) => {
    expect(conditionHolds(edge("IS_SET"), new Values([{ amount }]))).toBe(true);
    expect(conditionHolds(edge("IS_NOT_SET"), new Values([{ amount }]))).toBe(false);
  });

  test("reads the first source that has the variable, and fills variables into the value", () => {
    const values = new Values([null, { amount: 5 }, { amount: 50, limit: 5 }]);
    expect(conditionHolds(edge("EQUALS", "{limit}"), values)).toBe(true);
    expect(conditionHolds(edge("GREATER", "{limit}"), values)).toBe(false);
  });
});
