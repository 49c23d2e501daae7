import { getNullableType, isInputObjectType, type GraphQLInputType } from "graphql";
import { fieldOf, type AuditedField } from "../../src/account/audit/note";
import type { Scope } from "../../src/platform/database/scope";

/** Arguments and input fields with people's words or identifiers. The audit log stores a keyed digest of their values. */
const PERSONAL = new Set([
  "anonymousId",
  "content",
  "externalId",
  "label",
  "metadata",
  "phoneNumber",
  "text",
  "uniqueId",
  "userId",
  "userName",
  "variables",
]);

/** Whether the value at a path is a person's words or identifier. */
export const isPersonal = (path: string): boolean => PERSONAL.has(path.slice(path.lastIndexOf(".") + 1));

/** Prefix of the fields of an operation's input; the audit log omits it. */
const INPUT = "input.";

interface InputDefinition {
  readonly name: string;
  readonly type: GraphQLInputType;
}

/** Fields that an operation received, except those that identify its record. */
export function fieldsOf(
  scope: Scope,
  given: readonly InputDefinition[],
  values: Readonly<Record<string, unknown>>,
  without: readonly string[],
  at = "",
): AuditedField[] {
  return given.flatMap(({ name, type }) => {
    const path = at + name;
    const value = values[name];
    if (value === undefined || (without.includes(path) && !isPersonal(path))) return [];
    const plain = getNullableType(type);
    if (value !== null && isInputObjectType(plain))
      return fieldsOf(scope, Object.values(plain.getFields()), value as typeof values, without, `${path}.`); // coerced to this type
    const shown = path.startsWith(INPUT) ? path.slice(INPUT.length) : path;
    return [fieldOf(scope, shown, value, isPersonal(path))];
  });
}
