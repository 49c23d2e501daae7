import { parser } from "@prometheus-io/lezer-promql";

/** The rest of a query from its first syntax error; undefined if it has none. */
export function syntaxError(query: string): string | undefined {
  let error: string | undefined;
  parser.parse(query).iterate({
    enter: ({ type, from }) => {
      if (type.isError) error ??= query.slice(from);
    },
  });
  return error;
}

/** The labels by which each aggregation of a query groups. */
export function groupings(query: string): string[][] {
  const all: string[][] = [];
  parser.parse(query).iterate({
    enter: ({ name, node }) => {
      if (name !== "AggregateExpr") return;
      const labels = node.getChild("AggregateModifier")?.getChild("GroupingLabels")?.getChildren("LabelName");
      all.push((labels ?? []).map(({ from, to }) => query.slice(from, to)));
    },
  });
  return all;
}
