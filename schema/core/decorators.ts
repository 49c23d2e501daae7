import type { GraphQLScalarType } from "graphql";
import * as typeGraphql from "type-graphql";
import type { Context } from "./context";

/*
 * Decorators of type-graphql that also check types: a resolver that returns another shape than its GraphQL class, or
 * leaves out a field of it, is a compile error.
 */

/** Value of a GraphQL type as declared to type-graphql: a class, a scalar, an enum, or a list of one of them. */
export type ValueOf<R> = R extends readonly (infer Item)[]
  ? readonly ValueOf<Item>[]
  : R extends StringConstructor
    ? string
    : R extends BooleanConstructor
      ? boolean
      : R extends NumberConstructor
        ? number
        : R extends GraphQLScalarType<infer Value, infer _External>
          ? Value
          : R extends abstract new (...parts: never[]) => infer Instance
            ? Instance
            : R extends Readonly<Record<string, infer Name>>
              ? Name
              : never;

interface Options {
  readonly nullable?: true;
  readonly name?: string;
  readonly description: string;
  readonly deprecationReason?: string;
}

type FieldValue<R, O> = ValueOf<R> | (O extends { readonly nullable: true } ? null | undefined : never);

/** A decorator of methods that return, or resolve to, V. */
type MethodDecoratorOf<V> = <M extends (...given: never[]) => V | Promise<V>>(
  target: object,
  name: string,
  method: TypedPropertyDescriptor<M>,
) => void;

type Operation = <R, O extends Options>(returns: () => R, options: O) => MethodDecoratorOf<FieldValue<R, O>>;

/** A decorator of properties that a field of the type V can return. */
type PropertyDecoratorOf<V> = <K extends string>(target: { readonly [P in K]?: V }, name: K) => void;

interface FieldOptions {
  readonly nullable?: boolean;
  readonly name?: string;
  readonly description: string;
  readonly defaultValue?: unknown;
  readonly simple?: boolean;
}

interface FieldDecorator {
  <R, O extends FieldOptions>(returns: () => R, options: O): PropertyDecoratorOf<FieldValue<R, O>>;
  /** The type of the property is the type of the field. */
  <O extends FieldOptions>(
    options: O,
  ): PropertyDecoratorOf<
    FieldValue<StringConstructor | NumberConstructor | BooleanConstructor | DateConstructor, O>
  >;
}

// Each takes the same arguments as its original, whose types are wider.
export const Field = typeGraphql.Field as FieldDecorator;
export const Query = typeGraphql.Query as Operation;
export const Mutation = typeGraphql.Mutation as Operation;
export const FieldResolver = typeGraphql.FieldResolver as Operation;

/** The object whose field is resolved. type-graphql's own decorator copies it for every such field. */
export const Root = () => typeGraphql.createParameterDecorator(({ root }) => root as object);

interface SubscriptionOptions<V> extends Options {
  readonly subscribe: (request: {
    readonly args: unknown;
    readonly context: Context;
  }) => AsyncIterable<V> | Promise<AsyncIterable<V>>;
}

type StreamOperation = <R, O extends SubscriptionOptions<ValueOf<R>>>(
  returns: () => R,
  options: O,
) => MethodDecoratorOf<FieldValue<R, O>>;

export const Subscription = typeGraphql.Subscription as unknown as StreamOperation; // its own options know no context
