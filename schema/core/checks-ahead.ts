import {
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isObjectType,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
} from "graphql";
import { collectSubfields } from "graphql/execution/collectFields.js";
import { DomainError } from "../../src/platform/errors";
import type { Context } from "./context";

/** @throws UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT */
export type Check = (args: Record<string, unknown>, context: Context) => void;

/** Checks of nested fields, by `Type.field`. */
export type NestedChecks = ReadonlyMap<string, Check>;

/** Runs the checks of all fields below a mutation before its work, so that a refused field leaves nothing changed. */
export function checkAhead(checks: NestedChecks, info: GraphQLResolveInfo, context: Context): void {
  const { schema, fragments, variableValues } = info;
  const below = (type: GraphQLNamedType, nodes: readonly FieldNode[]) => {
    for (const possible of isAbstractType(type) ? schema.getPossibleTypes(type) : [type]) {
      if (!isObjectType(possible)) continue;
      const fields = possible.getFields();
      for (const selected of collectSubfields(schema, fragments, variableValues, possible, nodes).values()) {
        const { name } = selected[0]!;
        const field = fields[name.value]; // undefined for __typename
        if (!field) continue;
        const coordinate = `${possible.name}.${name.value}`;
        const check = checks.get(coordinate);
        if (check) {
          const args = getArgumentValues(field, selected[0]!, variableValues);
          saying(coordinate, () => check(args, context));
        }
        below(getNamedType(field.type), selected);
      }
    }
  };
  below(getNamedType(info.returnType), info.fieldNodes);
}

/** Adds to a refusal which field of the result it is about. */
function saying(field: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== "FORBIDDEN") throw error;
    throw new DomainError(
      "FORBIDDEN",
      `${error.message} This concerns ${field} in the result. Nothing has been changed.`,
    );
  }
}
