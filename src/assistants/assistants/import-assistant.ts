import { isDeepStrictEqual } from "node:util";
import { Quotas } from "../../account/organization/quotas";
import { Projects } from "../../account/projects/projects";
import { currentDate } from "../../platform/clock";
import { encoded } from "../../platform/database/encoded";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import {
  CONFIGURATIONS,
  Configurations,
  type ConfigurationKind,
  type Kinds,
} from "../configurations/configurations";
import { VersionKeeper } from "../history/version-keeper";
import { Templates } from "../configurations/templates";
import { warnOfUnusableNames } from "../configurations/variable-names";
import { Assistants, type Assistant } from "./assistants";

type ImportedConfigurations = { readonly [K in ConfigurationKind]?: Partial<Kinds[K]> | null };

/** An assistant of another service. */
export interface ImportedAssistant extends ImportedConfigurations {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
  readonly variables?: JsonObject | null;
  /** Default: none, or the one that it has here. */
  readonly projectId?: string | null;
  /** Default: now. */
  readonly createdAt?: Date | null;
}

const KINDS = Object.keys(CONFIGURATIONS) as ConfigurationKind[];

/**
 * Creates an assistant with this id, or makes the one with this id equal to it, also if it was deleted. Runs in a
 * transaction. Configurations and their fields that are omitted keep their values.
 * @throws QUOTA_EXCEEDED, TEMPLATE_READ_ONLY, PROJECT_NOT_FOUND
 */
export async function importAssistant(scope: Scope, input: ImportedAssistant): Promise<Assistant> {
  const { id } = input;
  if (await scope.of(Templates).find(id)) await scope.of(Templates).rejectWrite(id);
  if (input.projectId != null) await scope.of(Projects).byId(input.projectId);
  warnOfUnusableNames(scope, input.variables);
  const isNew = await storeAssistant(scope, input);
  scope.forget();
  const assistant = await scope.of(Assistants).byId(id);
  if (!isNew) for (const kind of KINDS) await updateIfDifferent(scope, kind, assistant, input[kind]);
  await scope.of(VersionKeeper).record(id, "Imported");
  return assistant;
}

/** @returns whether it was not stored yet; then its configurations are complete */
async function storeAssistant(scope: Scope, input: ImportedAssistant): Promise<boolean> {
  const { id, name, description = null, variables = null, projectId, createdAt } = input;
  const [stored] = await scope.table("assistants").where({ id }).forUpdate();
  const values = { name, description, variables, ...(projectId !== undefined && { projectId }) };
  if (!stored) {
    await scope.of(Quotas).checkRoomFor("assistants");
    await scope.insert("assistants", {
      id,
      ...values,
      ...(createdAt && { createdAt, updatedAt: createdAt }),
    });
    for (const kind of KINDS)
      await scope.insert(CONFIGURATIONS[kind], { ...withoutUndefined(input[kind] ?? {}), assistantId: id });
    return true;
  }
  if (stored.deletedAt !== null) await scope.of(Quotas).checkRoomFor("assistants");
  else if (isEqual(stored, values)) return false;
  const changes = { ...encoded(values), deletedAt: null, updatedAt: currentDate() };
  await scope.table("assistants").where({ id }).update(changes);
  return false;
}

const withoutUndefined = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T; // the same keys

/** Whether an object has these values. */
const isEqual = (one: object, values: object): boolean =>
  Object.entries(values).every(([name, value]) => isDeepStrictEqual(one[name as keyof typeof one], value));

async function updateIfDifferent<K extends ConfigurationKind>(
  scope: Scope,
  kind: K,
  assistant: Assistant,
  input: Partial<Kinds[K]> | null | undefined,
): Promise<void> {
  if (input == null) return;
  const stored = await scope.of(Configurations).stored(kind, assistant);
  const given = withoutUndefined(input);
  if (!isEqual(stored, given)) await scope.of(Configurations).update(kind, assistant.id, given);
}
