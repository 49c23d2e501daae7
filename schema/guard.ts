import type { GraphQLField, GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema } from "graphql";
import { isObjectType } from "graphql";
import { invalid } from "../src/errors";
import { authorize, AUTHORIZATION } from "./authorization";
import type { Context } from "./context";
import { problemsOf, ruleOf } from "./rules";

type Check = (args: Record<string, unknown>, context: Context) => void;

/**
 * Puts the authorization table and the input rules in front of every resolver, so that both faces refuse alike.
 * @throws Error that names an operation without a row in the table, or a row without an operation
 */
export function guard(schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter(
    (type) => !!type,
  );
  const operations = roots.flatMap((root) => Object.keys(root.getFields()));
  const without = operations.filter((name) => !(name in AUTHORIZATION));
  const stale = Object.keys(AUTHORIZATION).filter((name) => !operations.includes(name));
  if (without.length > 0 || stale.length > 0)
    throw new Error(
      `The authorization table lacks ${without.join(", ") || "nothing"} and names the unknown ${stale.join(", ") || "nothing"}.`,
    );
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !type.name.startsWith("__"))
      guardFields(type, roots.includes(type), type === schema.getMutationType());
}

function guardFields(type: GraphQLObjectType, isRoot: boolean, changes: boolean): void {
  for (const field of Object.values(type.getFields())) {
    const rules = checkOf(field);
    if (!isRoot && field.args.length === 0) continue;
    const check: Check = (args, context) => {
      if (isRoot) authorize(AUTHORIZATION[field.name]!, context.caller);
      rules(args, context);
      if (changes) context.scope.forget(); // mutations run one after another: each sees what those before it did
    };
    if (field.subscribe) field.subscribe = behind(check, field.subscribe);
    else if (field.resolve) field.resolve = behind(check, field.resolve);
  }
}

const behind = <R extends GraphQLFieldResolver<unknown, Context>>(check: Check, resolve: R): R =>
  ((root, args, context, info) => {
    check(args as Record<string, unknown>, context);
    return resolve(root, args, context, info);
  }) as R;

const checkOf =
  ({ args }: GraphQLField<unknown, unknown>): Check =>
  (values) => {
    const problems = args.flatMap((arg) => problemsOf(arg.type, values[arg.name], arg.name, ruleOf(arg)));
    if (problems.length > 0) throw invalid(problems);
  };
