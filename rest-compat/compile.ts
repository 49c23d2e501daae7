import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  Kind,
  OperationTypeNode,
  parse,
  TypeInfo,
  typeFromAST,
  validate,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableNode,
} from "graphql";
import { accessOf, type Access } from "../schema/core/access";
import { waitsFor } from "../schema/core/waits";
import type { DocumentCost } from "../src/http/graphql/document-cost";
import { withExtensions } from "./extensions";
import { adviceFor } from "./read-only";
import type { Engine, Run } from "./run";
import type { Route } from "./route";
import { shaperOf, type Shape } from "./wire";

/** A variable of a document and the source of its value. */
export interface Variable {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** The argument that the variable fills. */
  readonly argument: GraphQLArgument;
  readonly from: "path" | "query" | "body" | "form";
}

/** The compiled document of a route. */
export interface Operation {
  readonly name: string;
  /** Access rule of the operation. */
  readonly access: Access;
  readonly definition: OperationDefinitionNode;
  readonly variables: readonly Variable[];
  /** The input type of a JSON body. */
  readonly input?: GraphQLInputObjectType;
  /** Names of the fields that the body may have. */
  readonly bodyFields: readonly string[];
  /** Response fields that the body cannot set, with advice. A PATCH may send them back; they are ignored. */
  readonly readOnly: ReadonlyMap<string, string>;
  readonly output: GraphQLOutputType;
  readonly selection?: SelectionSetNode;
  /** Names of the fields around the result, outermost first. */
  readonly resultPath: readonly string[];
  readonly shape: Shape;
  /** Whether the operation waits for HTTP requests of its own with these values of variables. */
  readonly waits: (values: Readonly<Record<string, unknown>>) => boolean;
  /** Points that the operation costs with these values of variables. */
  readonly costOf: (values: Record<string, unknown>) => number;
  readonly run: Run;
}

export interface CompiledRoute extends Route {
  readonly operation?: Operation;
  /** Requests that set a field which this route does not take, by field. */
  readonly setters?: ReadonlyMap<string, string>;
  /** Successful answers have an ETag. */
  readonly tagged?: boolean;
  /** The route that reads the record which this one changes or deletes. */
  readonly reader?: CompiledRoute;
}

/** Path segments that depend on settings. */
export type Segments = Readonly<Record<"voice_engine" | "telephony_provider", string>>;

/** Checks a route at each build, which would take long at each start. @throws Error if its document does not match the schema */
export function validateRoute(schema: GraphQLSchema, { id, document, current }: Route): void {
  const [problem] = [document, current].flatMap((text) =>
    text === undefined ? [] : validate(schema, parse(text)),
  );
  if (problem) throw new Error(`The REST route ${id} does not match the schema: ${problem.message}`);
}

/** Compiles a route whose document matches the schema. */
export function compileRoute(engine: Engine, row: Route, segments: Segments): CompiledRoute {
  const path = row.path.replace(/<(\w+)>/g, (_, name: keyof Segments) => segments[name]);
  if (row.document === undefined) return { ...row, path };
  const document = withExtensions(parse(row.document), engine.schema);
  const definition = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)!;
  const root = engine.schema.getRootType(definition.operation)!;
  const { field, type, resultPath } = findResult(row.id, definition.selectionSet, root, []);
  const variables = variablesOf(engine, row, document, definition);
  const inputType = getNamedType(variables.find(({ from }) => from === "body")?.type);
  const input = isInputObjectType(inputType) ? inputType : undefined;
  const bodyFields = Object.keys(input?.getFields() ?? {}).filter((name) => !row.omit?.includes(name));
  const responseFields = field.selectionSet?.selections.map((node) => responseName(node as FieldNode)) ?? [];
  const readOnly = input ? responseFields.filter((name) => !bodyFields.includes(name)) : [];
  const { name: typeName } = getNamedType(type);
  const rootField = fieldOf(definition.selectionSet).name.value;
  const operation: Operation = {
    name: definition.name?.value ?? row.id,
    access: accessOf(rootField, definition.operation === OperationTypeNode.MUTATION),
    definition,
    variables,
    ...(input && { input }),
    bodyFields,
    readOnly: new Map(readOnly.map((name) => [name, adviceFor(typeName, name)])),
    output: type,
    ...(field.selectionSet && { selection: field.selectionSet }),
    resultPath,
    shape: shaperOf(type, field.selectionSet, row.nullable ?? []),
    waits: (values) =>
      waitsFor(rootField, Object.fromEntries(variables.map((one) => [one.argument.name, values[one.name]]))),
    costOf: costOf(engine, document),
    run: lazily(() => engine.compile(document)),
  };
  return { ...row, path, operation };
}

/** Compiles on the first call, so that startup does not compile every route. */
function lazily(compile: () => Run): Run {
  let run: Run | undefined;
  return (context, variables) => (run ??= compile())(context, variables);
}

/** Prepares at the first call, too. */
function costOf(engine: Engine, document: DocumentNode): Operation["costOf"] {
  let cost: DocumentCost | undefined;
  return (variables) => (cost ??= engine.cost(document)).of(variables).cost?.requested ?? 0;
}

export const responseName = ({ alias, name }: FieldNode): string => (alias ?? name).value;

/** The single field that a route's document selects at each level above the result. */
const fieldOf = ({ selections }: SelectionSetNode) => selections[0] as FieldNode;

function findResult(
  id: string,
  selectionSet: SelectionSetNode,
  type: GraphQLOutputType,
  path: readonly string[],
): { field: FieldNode; type: GraphQLOutputType; resultPath: readonly string[] } {
  const field = fieldOf(selectionSet);
  const parent = getNamedType(type);
  if (!isObjectType(parent)) throw new Error(`The REST route ${id} has no field with the alias "result".`);
  const fieldType = parent.getFields()[field.name.value]!.type;
  const resultPath = [...path, responseName(field)];
  if (field.alias?.value === "result") return { field, type: fieldType, resultPath };
  if (!field.selectionSet || isListType(getNullableType(fieldType)))
    throw new Error(`The REST route ${id} has no field with the alias "result".`);
  return findResult(id, field.selectionSet, fieldType, resultPath);
}

function variablesOf(
  engine: Engine,
  row: Route,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Variable[] {
  const argumentOf = argumentsOf(engine.schema, document);
  const inPath = new Set([...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  return variableDefinitions.map(({ variable, type: node }) => {
    const name = variable.name.value;
    const type = typeFromAST(engine.schema, node) as GraphQLInputType; // a document that matches the schema
    const from = inPath.has(name)
      ? "path"
      : name === "input"
        ? "body"
        : row.body === "multipart"
          ? "form"
          : "query";
    return { name, type, from, argument: argumentOf.get(name)! };
  });
}

/** The argument that each variable fills; a valid document uses every variable. */
function argumentsOf(schema: GraphQLSchema, document: DocumentNode): ReadonlyMap<string, GraphQLArgument> {
  const found = new Map<string, GraphQLArgument>();
  const info = new TypeInfo(schema);
  const Variable = ({ name }: VariableNode) => {
    const argument = info.getArgument();
    if (argument) found.set(name.value, argument);
  };
  visit(document, visitWithTypeInfo(info, { Variable }));
  return found;
}
