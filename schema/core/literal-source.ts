import { Kind, type ValueNode } from "graphql";
import { exactText } from "../../src/platform/json/json-source";

/** JSON text of a literal, with numbers as written; undefined for a variable without a value. */
export function jsonOf(
  node: ValueNode,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): string | undefined {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      return node.value;
    case Kind.NULL:
      return "null";
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return JSON.stringify(node.value);
    case Kind.LIST:
      return `[${node.values.map((value) => jsonOf(value, variables) ?? "null").join(",")}]`;
    case Kind.OBJECT: {
      const fields = node.fields.flatMap(({ name, value }) => {
        const text = jsonOf(value, variables);
        return text === undefined ? [] : [`${JSON.stringify(name.value)}:${text}`];
      });
      return `{${fields.join(",")}}`;
    }
    case Kind.VARIABLE: {
      const value = variables?.[node.name.value];
      return typeof value === "object" && value !== null ? exactText(value) : JSON.stringify(value);
    }
  }
}
