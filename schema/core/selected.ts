import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from "graphql";
import { createParameterDecorator } from "type-graphql";

type Info = Pick<GraphQLResolveInfo, "fieldNodes" | "fragments">;

/** Cached names per position in a document: graphql-js passes the same nodes for it each time. */
const known = new WeakMap<Info["fieldNodes"], readonly string[]>();

/**
 * Passes the names of the selected fields of the returned object, so that a resolver can skip costly reads. Names are
 * field names, not aliases; fields in fragments and fields that a directive skips are included.
 */
export const Selected = () => createParameterDecorator(({ info }) => selectedBy(info));

function selectedBy({ fieldNodes, fragments }: Info): readonly string[] {
  const found = known.get(fieldNodes);
  if (found) return found;
  const names = new Set<string>();
  for (const { selectionSet } of fieldNodes) collect(selectionSet!, fragments, names); // fields of object types have selections
  const selected = [...names];
  known.set(fieldNodes, selected);
  return selected;
}

function collect({ selections }: SelectionSetNode, fragments: Info["fragments"], names: Set<string>): void {
  for (const selection of selections)
    if (selection.kind === Kind.FIELD) names.add(selection.name.value);
    else
      collect(
        selection.kind === Kind.INLINE_FRAGMENT
          ? selection.selectionSet
          : fragments[selection.name.value]!.selectionSet, // validated
        fragments,
        names,
      );
}
