import { getNamedType, isInputObjectType, type GraphQLArgument, type GraphQLFieldResolver } from "graphql";
import { DomainError, withPaths } from "../../src/platform/errors";

type Resolve<C> = GraphQLFieldResolver<unknown, C>;
type Arguments = readonly GraphQLArgument[];

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

function located(args: Arguments, error: unknown): unknown {
  if (!(error instanceof DomainError) || !error.details) return error;
  return withPaths(error, (path) => pathIn(args, path));
}

/** Completes the paths in the errors of a field by the arguments that contain the values. */
export function withArgumentPaths<C>(args: Arguments, resolve: Resolve<C>): Resolve<C> {
  if (!args.some(({ type }) => isInputObjectType(getNamedType(type)))) return resolve;
  return async (root, values, context, info) => {
    try {
      return (await resolve(root, values, context, info)) as unknown;
    } catch (error) {
      throw located(args, error);
    }
  };
}
