/** The keywords of JSON Schema that events use. */
export interface Schema {
  readonly type: "object" | "array" | "string" | "integer" | "boolean";
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly format?: "date-time";
  readonly minimum?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

export interface ObjectSchema extends Schema {
  readonly type: "object";
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
}

/** The type of the values that match a schema. */
export type TypeOf<S> = S extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : S extends { readonly type: "array"; readonly items: infer Item }
    ? readonly TypeOf<Item>[]
    : S extends { readonly properties: infer Properties; readonly required: readonly (infer Required)[] }
      ? { readonly [K in keyof Properties & Required]: TypeOf<Properties[K]> } & {
          readonly [K in Exclude<keyof Properties, Required>]?: TypeOf<Properties[K]>;
        }
      : S extends { readonly type: infer Name extends keyof Simple }
        ? Simple[Name]
        : never;

interface Simple {
  readonly string: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly object: Readonly<Record<string, unknown>>;
}
