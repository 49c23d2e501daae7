import { changeDeep, changeSchema } from "../../assistants/configurations/filled-texts";
import { PLACEHOLDER } from "../../assistants/configurations/variable-names";
import type { JsonObject } from "../../platform/json/json-object";
import type { MissingVariables } from "../../platform/database/tables/value-types";

type Source = Readonly<Record<string, unknown>> | null | undefined;

/**
 * Most characters that one set of values fills in. A text may use a name thousands of times, and a visitor may give it a value
 * of a megabyte.
 */
const MAX_FILLED = 1_000_000;

/** Values of variables. The first source that has a name provides its value. */
export class Values {
  private room = MAX_FILLED;

  constructor(
    private readonly sources: readonly Source[],
    /** Whether a name without a value becomes an empty text; otherwise it stays as written. */
    readonly blanks = false,
  ) {}

  has(name: string): boolean {
    return this.sourceOf(name) !== undefined;
  }

  /** Whether a name has a value other than null, which becomes an empty text. */
  isSet(name: string): boolean {
    return this.of(name) != null;
  }

  /** The value of a name; undefined if it has none. */
  of(name: string): unknown {
    return this.sourceOf(name)?.[name];
  }

  /**
   * The text that takes the place of a name; undefined if the placeholder stays. Once a value does not fit into
   * `MAX_FILLED`, all further places stay empty.
   */
  textFor(name: string): string | undefined {
    if (!this.has(name)) return this.blanks ? "" : undefined;
    if (this.room < 0) return "";
    const text = toText(this.of(name));
    this.room -= text.length;
    return this.room < 0 ? "" : text;
  }

  private sourceOf(name: string): Source {
    return this.sources.find((values) => values != null && Object.hasOwn(values, name));
  }
}

export const NO_VALUES = new Values([]);

/**
 * The values for an assistant's texts: those of the conversation, then its own. In a conversation that has started,
 * nothing can be refused, so the setting REFUSE has the effect of BLANK.
 */
export const valuesOf = (
  given: Source,
  { variables, missingVariables }: { variables: JsonObject | null; missingVariables: MissingVariables },
): Values => new Values([given, variables], missingVariables !== "KEEP");

/** Replaces each `{name}` with its value. Placeholders inside values are not replaced. */
export const fill = (text: string, values: Values): string =>
  text.replace(PLACEHOLDER, (placeholder, name: string) => values.textFor(name) ?? placeholder);

/** Replaces placeholders in every string of a value, but not in keys. */
export const fillDeep = (value: unknown, values: Values): unknown =>
  changeDeep(value, (text) => fill(text, values));

/** Fills variables into the parameters of a function where they cannot change the structure of the schema. */
export const fillSchema = (parameters: JsonObject, values: Values): JsonObject =>
  changeSchema(parameters, (text) => fill(text, values));

const toText = (value: unknown): string =>
  typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
