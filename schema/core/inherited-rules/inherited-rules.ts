import { isInputObjectType, type GraphQLInputFieldExtensions, type GraphQLSchema } from "graphql";
import { getMetadataStorage } from "type-graphql";

type Rules = Readonly<Record<string, GraphQLInputFieldExtensions>>;

/** Restores the rules of inherited input fields, which type-graphql drops. */
export function inheritRules(schema: GraphQLSchema): void {
  const inputs = getMetadataStorage().inputTypes;
  const rulesOf = (target: unknown): Rules => {
    const input = inputs.find((input) => input.target === target);
    if (!input) return {};
    const own = input.fields!.map(({ schemaName, extensions }) => [schemaName, extensions ?? {}] as const);
    return { ...rulesOf(Object.getPrototypeOf(input.target)), ...Object.fromEntries(own) };
  };
  for (const { name, target } of inputs) {
    const type = schema.getType(name);
    if (!isInputObjectType(type)) continue; // an abstract class is no type of the schema
    for (const [field, rule] of Object.entries(rulesOf(target))) type.getFields()[field]!.extensions = rule;
  }
}
