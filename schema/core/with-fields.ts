import { Field } from "type-graphql";
import { Rule, type InputRule } from "./rules";

/** Fields of an input by name: rule, description and type. */
export type Fields = Readonly<Record<string, readonly [InputRule, string, () => unknown, "required"?]>>;

/** Adds fields to an input. Inheritance won't do: type-graphql drops the rules of inherited input fields. */
export const withFields =
  (fields: Fields) =>
  ({ prototype }: { prototype: object }): void => {
    for (const [name, [rule, description, type, required]] of Object.entries(fields)) {
      Rule(rule)(prototype, name);
      Field(type as () => typeof String, { nullable: required === undefined, description })(prototype, name);
    }
  };
