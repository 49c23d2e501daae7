import { Kind, type GraphQLResolveInfo, type SelectionSetNode } from "graphql";
import { createParameterDecorator } from "type-graphql";

type Info = Pick<GraphQLResolveInfo, "fieldNodes" | "fragments">;

/** Of each place in a document, once: an engine shows the same nodes for it each time. */
const known = new WeakMap<Info["fieldNodes"], readonly string[]>();

/**
 * The parameter gets the names of the fields that a query selects of the object that a resolver gives, for what is
 * costly to read: by their own names, not their aliases, whatever fragments they stand in; also those that a
 * directive leaves out.
 */
export const Selected = () => createParameterDecorator(({ info }) => selectedBy(info));

function selectedBy({ fieldNodes, fragments }: Info): readonly string[] {
  const found = known.get(fieldNodes);
  if (found) return found;
  const names = new Set<string>();
  for (const { selectionSet } of fieldNodes) collect(selectionSet!, fragments, names); // an object has selections
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
