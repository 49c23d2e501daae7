import {
  getNamedType,
  getNullableType,
  GraphQLID,
  isInputObjectType,
  isListType,
  type GraphQLArgument,
  type GraphQLFieldResolver,
  type GraphQLInputType,
} from "graphql";
import { DomainError, withPaths } from "../../src/platform/errors";

type Resolve<C> = GraphQLFieldResolver<unknown, C>;
type Arguments = readonly GraphQLArgument[];
type Values = Readonly<Record<string, unknown>>;

/** The path of a value as the client wrote it: services name a field of an input without its argument. */
function pathIn(args: Arguments, path: string): string {
  const [first = ""] = path.split(".", 1);
  if (args.some(({ name }) => name === first)) return path;
  const holder = args.find(({ type }) => {
    const input = getNamedType(type);
    return isInputObjectType(input) && first in input.getFields();
  });
  return holder ? `${holder.name}.${path}` : path;
}

interface Place {
  readonly path: string;
  readonly type: GraphQLInputType;
}

/** Every place of a text in a coerced value. */
function placesOf(text: string, type: GraphQLInputType, value: unknown, path: string): Place[] {
  const bare = getNullableType(type);
  if (value === text) return [{ path, type: bare }];
  if (isListType(bare) && Array.isArray(value))
    return value.flatMap((item, index) => placesOf(text, bare.ofType, item, `${path}.${index}`));
  if (!isInputObjectType(bare) || value == null) return [];
  return Object.values(bare.getFields()).flatMap(({ name, type }) =>
    placesOf(text, type, (value as Values)[name], `${path}.${name}`),
  );
}

/** The field of an input that names the missing record; undefined if an argument itself names it. */
function placeOfMissing(args: Arguments, values: Values, id: string): string | undefined {
  if (args.some(({ name }) => values[name] === id)) return undefined;
  const places = args.flatMap(({ name, type }) => placesOf(id, type, values[name], name));
  return (places.find(({ type }) => type === GraphQLID) ?? places[0])?.path;
}

function located(args: Arguments, values: Values, error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  const { code, message, details, missingId } = error;
  if (details) return withPaths(error, (path) => pathIn(args, path));
  const path = missingId === undefined ? undefined : placeOfMissing(args, values, missingId);
  return path === undefined ? error : new DomainError(code, message, [{ path, message }]);
}

/** Completes the paths in the errors of a field by the arguments that contain the values. */
export function withArgumentPaths<C>(args: Arguments, resolve: Resolve<C>): Resolve<C> {
  if (!args.some(({ type }) => isInputObjectType(getNamedType(type)))) return resolve;
  return async (root, values: Values, context, info) => {
    try {
      return (await resolve(root, values, context, info)) as unknown;
    } catch (error) {
      throw located(args, values, error);
    }
  };
}
