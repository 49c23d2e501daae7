import { expect, test } from "@jest/globals";
import { getOperationAST, parse, print, separateOperations } from "graphql";
import { explorerTabs } from "../../src/web/explorer/tabs";
import { useApp } from "../support/app";

const running = useApp({ WORKER: "on" });

/** Variable of later tabs that takes the id returned by an operation. */
const GIVEN_BY: Readonly<Record<string, string>> = { CreateAssistant: "ASSISTANT_ID", StartChat: "CHAT_ID" };

const operations = explorerTabs.flatMap(({ query, variables = {} }) =>
  Object.entries(separateOperations(parse(query)))
    .filter(([, document]) => String(getOperationAST(document)?.operation) !== "subscription")
    .map(([name, document]) => ({ name, query: print(document), variables: JSON.stringify(variables) })),
);

test("the explorer's tabs run one after another on a fresh service, with the ids that they return", async () => {
  const ids: Record<string, string> = {};
  for (const { name, query, variables } of operations) {
    const filled = variables.replace(/[A-Z]+_ID/g, (wanted) => ids[wanted] ?? wanted);
    const data = await running.api.gql(query, JSON.parse(filled) as Record<string, unknown>);
    const given = GIVEN_BY[name];
    if (given) ids[given] = (Object.values(data)[0] as { id: string }).id;
  }
  expect(Object.keys(ids)).toEqual(Object.values(GIVEN_BY));
});
