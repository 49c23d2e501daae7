import {
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isInterfaceType,
  getNullableType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from "graphql";
import { AUTHORIZATION } from "../../schema/core/authorization";
import type { Api } from "../support/api";
import { operationsOf, run, variables, type Operation, type Outcome } from "../support/operations";
import type { World } from "../support/world";
import type { Bijection } from "./bijection";
import { changedTables, effectDifferences } from "./effects";
import type { Seed } from "./seed";
import type { Side, Sides } from "./sides";

/** The entry of the certificate about an operation of GraphQL. */
export interface OperationResult {
  readonly operation: string;
  readonly kind: Operation["kind"];
  /** REST rows whose cases ran it. Without any, it ran by itself. */
  readonly rows: readonly string[];
  /** The record or answer with which its answer was compared. */
  readonly checked: string;
  readonly changes: readonly string[];
  readonly differences: readonly string[];
}

type Field = GraphQLField<unknown, unknown>;
/** A query that reads a record: by its id, or in a list. */
type Reader = { readonly name: string; readonly isList: boolean };

/** Runs operations without a REST row, on both servers, and reads their results back through other operations. */
export class OperationRunner {
  readonly operations: readonly Operation[];
  private readonly queries: Readonly<Record<string, Field>>;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly sides: Sides<Seed>,
    private readonly bijection: Bijection,
  ) {
    this.operations = operationsOf(schema);
    this.queries = schema.getQueryType()!.getFields();
  }

  /** @param rows REST rows whose cases run it */
  async run(operation: Operation, rows: readonly string[]): Promise<OperationResult> {
    const { name, kind } = operation;
    const result = { operation: name, kind, rows, changes: [], checked: "", differences: [] };
    if (rows.length > 0) return { ...result, checked: "the cases of its REST rows" };
    const example = variables[name];
    if (!example || !AUTHORIZATION[name])
      return { ...result, differences: ["test/support/operations.ts or AUTHORIZATION lacks this operation"] };
    const { seed, rest, graphql } = this.sides;
    const world = { ...seed.world, ...seed.own[name] };
    const field = this.fieldOf(operation);
    const whole = { ...operation, text: operation.text.replace(/\{ __typename \}/, selectionOf(field.type)) };
    const [left, right] = await Promise.all(
      [rest, graphql].map((side) => run(apiFor(side, name, world), whole, example(world))),
    );
    const [ours, theirs] = await Promise.all([rest.changes.next(), graphql.changes.next()]);
    const read =
      left!.code === undefined ? await this.readBack(operation, graphql, right!, world) : undefined;
    return {
      ...result,
      checked: read?.checked ?? (REFUSED[name] ? `${BOTH}: ${REFUSED[name]}` : BOTH),
      changes: changedTables(ours).sort(),
      differences: [
        ...this.bijection.differences(withoutHeaders(left!), withoutHeaders(right!)),
        ...effectDifferences(ours, theirs, this.bijection),
        ...(read?.differences ?? []),
        ...(left!.code === REFUSED[name]
          ? []
          : [`answered with ${left!.code}: ${JSON.stringify(left!.error)}`]),
      ],
    };
  }

  private fieldOf({ kind, name }: Operation): Field {
    const root = { query: this.schema.getQueryType(), mutation: this.schema.getMutationType() };
    const type = kind === "subscription" ? this.schema.getSubscriptionType() : root[kind];
    return type!.getFields()[name]!;
  }

  /** Compares a record in the answer with what another operation says of it. */
  private async readBack(operation: Operation, side: Side, outcome: Outcome, world: World) {
    const field = this.fieldOf(operation);
    const isRemoval = /^(delete(?!Logs)|disconnect)/.test(operation.name);
    const { type, record } = recordOf(field, Object(outcome.data)[operation.name] as unknown);
    const id = record?.id;
    if (typeof id !== "string" || operation.kind === "subscription") return undefined;
    const reader =
      this.readerOf(type, operation.name) ?? (isRemoval ? this.removedOf(operation.name) : undefined);
    if (!reader) return undefined;
    const text = reader.isList
      ? `{ ${reader.name} ${selectionOf(this.queries[reader.name]!.type)} }`
      : `query ($id: ID!) { ${reader.name}(id: $id) ${selectionOf(this.queries[reader.name]!.type)} }`;
    const answer = await apiFor(side, reader.name, world).graphql(text, reader.isList ? {} : { id });
    const found = itemsOf(Object(answer.body.data)[reader.name]).find((item) => item.id === id);
    await Promise.all([this.sides.rest.changes.next(), this.sides.graphql.changes.next()]);
    if (isRemoval)
      return {
        checked: `${reader.name} no longer finds the record`,
        differences: found ? [`${reader.name} still finds the record`] : [],
      };
    if (!found)
      return reader.isList ? undefined : { checked: "", differences: [`${reader.name} finds no record`] };
    const shared = Object.keys(record!).filter((key) => key in found);
    const differences = shared.flatMap((key) =>
      new Set([record![key], found[key]].map(withoutExpiry)).size > 1
        ? [`${key}: ${JSON.stringify(record![key])}, and ${JSON.stringify(found[key])} by ${reader.name}`]
        : [],
    );
    return { checked: `${shared.length} fields equal those by ${reader.name}`, differences };
  }

  /** The query for the record that a mutation such as `deleteProject` removes. */
  private removedOf(name: string): Reader | undefined {
    const wanted = name.replace(/^delete(.)/, (_, first: string) => first.toLowerCase());
    const isRead = this.queries[wanted]?.args.filter(({ type }) => isNonNullType(type)).length === 1;
    return isRead ? { name: wanted, isList: false } : undefined;
  }

  /** Another query for records of a type. */
  private readerOf(type: GraphQLNamedType, except: string): Reader | undefined {
    const all = Object.values(this.queries).filter(({ name }) => name !== except && name !== "node");
    const required = (field: Field) =>
      field.args.filter((arg) => isNonNullType(arg.type)).map(({ name }) => name);
    const one = all.find((field) => getNullableType(field.type) === type && required(field).join() === "id");
    const list = all.find(
      (field) =>
        required(field).length === 0 && getNullableType(field.type) !== type && itemTypeOf(field) === type,
    );
    return one ? { name: one.name, isList: false } : list && { name: list.name, isList: true };
  }
}

/** Operations that need a voice engine with web calls, which is missing here. */
const REFUSED: Readonly<Record<string, string>> = { startWidgetCall: "CHANNEL_DISABLED" };

const BOTH = "both servers, on the same data, answer and change the same";

/** The client that may run an operation. */
const apiFor = (side: Side, name: string, { visitorToken }: World): Api =>
  AUTHORIZATION[name] === "visitor" ? side.api.as({ Authorization: `Bearer ${visitorToken}` }) : side.api;

/** The headers of a refusal contain the time and the size. */
function withoutHeaders({ data, code, error }: Outcome): unknown {
  const { headers: _, ...plain } = Object(error) as { headers?: unknown };
  return { data, code, error: plain };
}

/** The type of the records in a list, page or connection; else the type itself. */
function itemTypeOf({ type }: Field): GraphQLNamedType {
  const named = getNamedType(type);
  if (!isObjectType(named)) return named;
  const { nodes, data } = named.getFields();
  const items = [nodes, data].find((field) => field && isListType(getNullableType(field.type)));
  return items ? getNamedType(items.type) : named;
}

type Record_ = Readonly<Record<string, unknown>>;

function itemsOf(value: unknown): Record_[] {
  const { nodes, data } = Object(value) as { nodes?: unknown; data?: unknown };
  const items = Array.isArray(value)
    ? value
    : Array.isArray(nodes)
      ? nodes
      : Array.isArray(data)
        ? data
        : [value];
  return (items as unknown[]).filter((item): item is Record_ => typeof item === "object" && item !== null);
}

const recordOf = (field: Field, value: unknown) => ({ type: itemTypeOf(field), record: itemsOf(value)[0] });

/** All fields without arguments that hold plain values, and those of the records in a page or connection. */
function selectionOf(type: Field["type"]): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return "";
  if (!isObjectType(named) && !isInterfaceType(named)) return "{ __typename }";
  const parts = Object.values(named.getFields()).flatMap((field) => {
    if (isLeafType(getNamedType(field.type))) return field.args.length === 0 ? [field.name] : [];
    return ["nodes", "data", "meta", "pageInfo"].includes(field.name)
      ? [`${field.name} ${selectionOf(field.type)}`]
      : [];
  });
  return `{ __typename ${parts.join(" ")} }`;
}

/** JSON without the second at which a link expires and its signature: each read makes a link of its own. */
const withoutExpiry = (value: unknown): string =>
  JSON.stringify(value ?? null).replace(/[?&]expires=\d+&signature=[\w-]+/g, "");
