import {
  getNullableType,
  GraphQLList,
  GraphQLNonNull,
  isListType,
  isRequiredArgument,
  type GraphQLOutputType,
  type GraphQLSchema,
} from "graphql";

/** Arguments that name the record of a root field. */
const NAMING: ReadonlySet<string> = new Set(["id", "assistantId"]);

/**
 * Makes nullable the root fields that change something and those that read one record by its id: an error stands at
 * the path of its field, and the other fields of the document keep their data. So do the other entries of those that read
 * several records by their ids.
 */
export function failAlone(schema: GraphQLSchema): void {
  const changes = Object.values(schema.getMutationType()!.getFields());
  const reads = Object.values(schema.getQueryType()!.getFields());
  const single = reads.filter(({ args }) =>
    args.some((arg) => isRequiredArgument(arg) && NAMING.has(arg.name)),
  );
  for (const field of [...changes, ...single]) field.type = getNullableType(field.type);
  const several = reads.filter(({ args }) => args.some(({ name }) => name === "ids"));
  for (const field of several) field.type = withNullableEntries(field.type);
}

function withNullableEntries(type: GraphQLOutputType): GraphQLOutputType {
  const list = getNullableType(type);
  return isListType(list) ? new GraphQLNonNull(new GraphQLList(getNullableType(list.ofType))) : type;
}
