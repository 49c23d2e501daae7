import { channel } from "node:diagnostics_channel";
import Ajv, { type ErrorObject, type ValidateFunction } from "ajv";
import type { EventName } from "../../platform/database/tables/event-names";
import { EVENT_CONTRACTS } from "./payloads";
import type { Schema } from "./schema-type";

/** A payload that does not match the schema of its event. */
export interface PayloadMismatch {
  readonly event: EventName;
  /** The field and what is wrong with it; never its value. */
  readonly problem: string;
}

/** Gets every `PayloadMismatch` of this process. */
export const MISMATCHES = channel("parley.event.mismatch");

/** As in `Date.toISOString`. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The validator of the older default dialect needs less memory; the keywords of events mean the same in 2020-12. */
let ajv: Ajv | undefined;
const checks = new Map<EventName, ValidateFunction>();

/** Compares a payload with the schema of its event, and publishes a mismatch. Never throws. */
export function checkPayload(event: EventName, payload: unknown): void {
  const check = checks.get(event) ?? compiled(event);
  if (check(payload)) return;
  MISMATCHES.publish({ event, problem: problemOf(check.errors?.[0]) } satisfies PayloadMismatch);
}

function compiled(event: EventName): ValidateFunction {
  ajv ??= new Ajv({ validateSchema: false, meta: false, formats: { "date-time": DATE_TIME } });
  const check = ajv.compile(closed(EVENT_CONTRACTS.find(({ name }) => name === event)!.schema));
  checks.set(event, check);
  return check;
}

/** A copy that allows no fields besides those that it names: receivers should expect new fields, but we name them first. */
function closed({ properties, items, ...schema }: Schema): object {
  if (items) return { ...schema, items: closed(items) };
  if (!properties) return schema;
  const entries = Object.entries(properties).map(([name, property]) => [name, closed(property)] as const);
  return { ...schema, properties: Object.fromEntries(entries), additionalProperties: false };
}

const problemOf = ({ instancePath, message, params }: Partial<ErrorObject> = {}): string =>
  `${instancePath ?? ""} ${message} ${JSON.stringify(params)}`.trim();
