import {
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  type GraphQLEnumType,
  type GraphQLInputType,
} from "graphql";
import { Extensions } from "type-graphql";
import { counted, quoted, type Problem } from "../../src/platform/errors";
import { sizeProblem, textProblem } from "../../src/platform/json/storable";

/**
 * Constraints on an input value, in the terms of JSON Schema; the OpenAPI document includes them. On a list,
 * `nullable`, `minItems`, `maxItems` and `x-extension` apply to the list, all others to each item, at any depth.
 */
export interface InputRule {
  /** `false`: may be omitted, but not null. */
  readonly nullable?: false;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  /**
   * `uri`: an http or https URL. `cursor`: the cursor of a list entry, `id`: an id; both are checked by form only, which is
   * free for cursors. `key`: see RECORD_KEY.
   */
  readonly format?: "uri" | "cursor" | "id" | "key";
  /** The possible values of a text that GraphQL does not declare as an enum. */
  readonly enum?: readonly string[];
  /** The field is an extension of the documented REST interface. */
  readonly "x-extension"?: true;
}

/** Messages of our scalars for values of another form. */
export const OBJECT_EXPECTED = "must be a JSON object";
export const DATE_TIME_EXPECTED = 'must be an ISO 8601 date-time such as "2026-01-31T12:00:00Z"';

/** Values for a description, such as "a, b or c". */
export const oneOf = (values: readonly string[]): string => values.join(", ").replace(/, (?=[^,]*$)/, " or ");

/** Sets the rule of an input field; both interfaces enforce it. */
export const Rule = (schema: InputRule): ReturnType<typeof Extensions> => Extensions({ schema });
/** Marks a field of a response as an extension of the documented REST interface. */
export const Extension = Rule({ "x-extension": true });
/** May be omitted, but not null: the response always has a value. */
export const NotNull = Rule({ nullable: false });

export const ruleOf = ({
  extensions,
}: {
  extensions?: Readonly<Record<string, unknown>> | null;
}): InputRule => (extensions?.schema ?? {}) as InputRule; // only Rule writes this extension on input fields

/** Part of a list's rule that applies to each item. */
export const itemRule = ({
  nullable: _nullable,
  minItems: _minItems,
  maxItems: _maxItems,
  "x-extension": _extension,
  ...rule
}: InputRule): Omit<InputRule, "nullable" | "minItems" | "maxItems" | "x-extension"> => rule;

/** Values that responses may contain, but that no request may send, by enum. */
const ONLY_IN_RESPONSES: Readonly<Record<string, readonly string[]>> = { KeyPermission: ["import"] };

/** The values of an enum that a request may send. */
export const valuesInRequests = (type: GraphQLEnumType): string[] =>
  type
    .getValues()
    .map(({ name }) => name)
    .filter((name) => !ONLY_IN_RESPONSES[type.name]?.includes(name));

/** All problems of a coerced value, by path. */
export function problemsOf(
  type: GraphQLInputType,
  value: unknown,
  path: string,
  rule: InputRule = {},
): Problem[] {
  if (value === undefined) return [];
  if (value === null) return rule.nullable === false ? [{ path, message: "must not be null" }] : [];
  if (isNonNullType(type)) return problemsOf(type.ofType, value, path, rule);
  if (isListType(type)) return inList(type.ofType, value as unknown[], path, rule);
  if (isInputObjectType(type)) {
    const record = value as Record<string, unknown>; // already coerced to this type
    const fields = type.getFields();
    return Object.entries(record).flatMap(([name, of]) =>
      problemsOf(fields[name]!.type, of, path ? `${path}.${name}` : name, ruleOf(fields[name]!)),
    );
  }
  const message = isScalarType(type) ? wrongScalar(value, rule) : undefined;
  return message === undefined ? [] : [{ path, message }];
}

function inList(type: GraphQLInputType, items: unknown[], path: string, rule: InputRule): Problem[] {
  const { minItems = 0, maxItems = Infinity } = rule;
  if (items.length < minItems)
    return [{ path, message: `must have at least ${counted(minItems, "item")}; got ${items.length}` }];
  if (items.length > maxItems)
    return [{ path, message: `must have at most ${counted(maxItems, "item")}; got ${items.length}` }];
  const ofItem = itemRule(rule);
  return items.flatMap((item, index) => problemsOf(type, item, `${path}.${index}`, ofItem));
}

function wrongScalar(value: unknown, rule: InputRule): string | undefined {
  if (typeof value === "string") return wrongText(value, rule);
  if (typeof value !== "number") return undefined;
  const { minimum = -Infinity, maximum = Infinity } = rule;
  if (value >= minimum && value <= maximum) return undefined;
  const range = maximum === Infinity ? `at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return `must be ${range}; got ${value}`;
}

/** Length in characters. Not counted exactly if any length is allowed, or if the text is too long in any case. */
function lengthOf(text: string, maxLength: number): number {
  if (maxLength === Infinity) return text.length;
  return text.length > maxLength * 2 ? Infinity : Array.from(text).length;
}

/** A key that files and URLs can contain, and that is the same on file systems that ignore case. */
export const RECORD_KEY = /^[a-z0-9][a-z0-9._-]*$/;

/** Ids of records are at most 255 characters long, and follow the other parts of a cursor. */
const MAX_CURSOR_LENGTH = 300;
/** Any other text sorts before or after all ids of this form and would give the first page or an empty one. */
const ID_FORM = /^[\da-f][\da-f-]*$/i;

const isWebAddress = (text: string): boolean =>
  URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);

function wrongText(text: string, rule: InputRule): string | undefined {
  const { minLength = 0, maxLength = Infinity, format, enum: values } = rule;
  const problem = textProblem(text);
  if (problem) return problem;
  const length = lengthOf(text, maxLength);
  if (minLength > 0 && text.trim() === "") return "must not be empty";
  if (length < minLength || length > maxLength)
    return `must be ${minLength > 0 ? `${minLength} to` : "at most"} ${maxLength} characters long; got ${Array.from(text).length}`;
  if (values && !values.includes(text)) return `must be one of ${values.join(", ")}; got ${quoted(text)}`;
  if (format === "uri" && !isWebAddress(text)) return "must be a URL that begins with http:// or https://";
  // Imported records keep their ids, which may have any form: the list looks such a cursor up.
  if (format === "cursor" && (text === "" || text.length > MAX_CURSOR_LENGTH))
    return `must be a cursor of another page; got ${quoted(text)}`;
  if (format === "id" && !ID_FORM.test(text))
    return `must be an id from an earlier response; got ${quoted(text)}`;
  if (format === "key" && !RECORD_KEY.test(text))
    return `must consist of lowercase letters, digits, ., _ and -, and begin with a letter or digit; got ${quoted(text)}`;
  return maxLength === Infinity ? sizeProblem(text) : undefined; // the REST contract names no limit
}
