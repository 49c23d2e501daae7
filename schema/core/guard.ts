import type { GraphQLField, GraphQLFieldResolver, GraphQLSchema } from "graphql";
import { defaultFieldResolver, isObjectType } from "graphql";
import { invalid } from "../../src/platform/errors";
import type { Scope } from "../../src/platform/database/scope";
import { Quotas } from "../../src/account/organization/quotas";
import { withArgumentPaths } from "./argument-paths";
import { accessOf, admit, admitNested, IN_ASSISTANTS, PERMISSION_OF, type Access } from "./access";
import { at, AUDIT, audited } from "./audit";
import { AUTHORIZATION } from "./authorization";
import { checkAhead, type Check, type NestedChecks } from "./checks-ahead";
import type { Context } from "./context";
import { QUOTA_EXEMPT, RESIZED, type Place } from "./quota-exempt";
import { recordDisclosures } from "./disclosures";
import { problemsOf, ruleOf } from "./rules";
import { nestedAccess, rootsOf } from "./type-rules";

type Field = GraphQLField<unknown, Context>;

/**
 * Wraps resolvers with the rules of operations, types and input values, and mutations also with the audit log, so that
 * both interfaces refuse and record in the same way. Fields that need no check stay unwrapped, so their reads cost
 * nothing extra.
 * @throws Error that names an operation or type without a row in its table, or a row without an operation or type
 */
export function guard(schema: GraphQLSchema): void {
  const roots = rootsOf(schema);
  const operations = roots.flatMap((root) => Object.keys(root.getFields()));
  const without = operations.filter((name) => !(name in AUTHORIZATION));
  const rows = [...Object.keys(AUTHORIZATION), ...Object.keys(PERMISSION_OF), ...IN_ASSISTANTS];
  const stale = rows.filter((name) => !operations.includes(name));
  if (without.length > 0 || stale.length > 0)
    throw new Error(
      `The authorization tables do not match the schema. Missing: ${without.join(", ") || "none"}. Unknown: ${stale.join(", ") || "none"}.`,
    );
  const nested = nestedAccess(schema);
  const checks = new Map<string, Check>();
  for (const root of roots)
    guardRoot(Object.values(root.getFields()), root === schema.getMutationType(), checks);
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !type.name.startsWith("__") && !roots.includes(type)) {
      recordDisclosures(type);
      for (const field of Object.values(type.getFields())) {
        const check = guardNested(field as Field, nested.get(field) ?? []);
        if (check) checks.set(`${type.name}.${field.name}`, check);
      }
    }
}

function guardRoot(fields: readonly Field[], changes: boolean, nested: NestedChecks): void {
  for (const field of fields) {
    const values = checkOf(field);
    const access = accessOf(field.name, changes);
    const check: Check = (args, context) => {
      admit(access, context.caller);
      values(args);
      if (changes) context.scope.forget(); // mutations run in sequence: each must see the changes of the previous ones
    };
    const isAudited = changes || field.name in AUDIT;
    if (field.subscribe) {
      field.subscribe = checkedFirst(check, field.subscribe);
      field.resolve = afresh(field.resolve ?? defaultFieldResolver);
    } else if (field.resolve) {
      const place = RESIZED[field.name];
      const isBounded = changes && !place && !(field.name in QUOTA_EXEMPT);
      const located = withArgumentPaths(field.args, field.resolve);
      const work = place ? notLarger(place, located) : located;
      const resolve = isAudited ? audited(field, work) : work;
      const bounded = isBounded ? withinQuota(resolve) : resolve;
      field.resolve = checkedFirst(check, changes ? checkedAhead(nested, bounded) : bounded);
    }
  }
}

/** Each result of a subscription reads its records anew. */
const afresh =
  (resolve: Resolve): Resolve =>
  (root, args, context, info) => {
    context.scope.forget();
    return resolve(root, args, context, info) as unknown;
  };

function guardNested(field: Field, needed: readonly Access[]): Check | undefined {
  if (needed.length === 0 && field.args.length === 0) return undefined;
  const values = checkOf(field);
  const check: Check = (args, context) => {
    for (const access of needed) admitNested(access, context.caller);
    values(args);
  };
  field.resolve = checkedFirst(check, withArgumentPaths(field.args, field.resolve ?? defaultFieldResolver));
  return check;
}

const checkedAhead =
  (nested: NestedChecks, resolve: Resolve): Resolve =>
  (root, args, context, info) => {
    checkAhead(nested, info, context);
    return resolve(root, args, context, info);
  };

type Resolve = GraphQLFieldResolver<unknown, Context>;

/** Refuses an operation that stores something if the organization's storage quota is used up. */
const withinQuota =
  (resolve: Resolve): Resolve =>
  async (root, args, context, info) => {
    await context.scope.of(Quotas).checkStorage();
    return (await resolve(root, args, context, info)) as unknown;
  };

/** Refuses an operation that makes a record larger if the organization's storage quota is used up. */
const notLarger =
  ({ argument, ...record }: Place, resolve: Resolve): Resolve =>
  (root, args: Record<string, unknown>, context, info) => {
    const id = at(args, argument) as string; // a required argument
    const work = async (scope: Scope) => (await resolve(root, args, { ...context, scope }, info)) as unknown;
    return context.scope.of(Quotas).resize({ ...record, id }, work);
  };

const checkedFirst = <R extends GraphQLFieldResolver<unknown, Context>>(check: Check, resolve: R): R =>
  ((root, args, context, info) => {
    check(args as Record<string, unknown>, context);
    return resolve(root, args, context, info);
  }) as R;

/** Creates the check of a field's arguments. @throws BAD_USER_INPUT that lists the invalid values by path */
export const checkOf =
  ({ args }: Pick<Field, "args">) =>
  (values: Readonly<Record<string, unknown>>): void => {
    const problems = args.flatMap((arg) => problemsOf(arg.type, values[arg.name], arg.name, ruleOf(arg)));
    if (problems.length > 0) throw invalid(problems);
  };
