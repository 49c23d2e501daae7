import type { Scope } from "../../platform/database/scope";
import { ModelMappings } from "./model-mappings";

/**
 * Which models answer for an organization's identifiers, as text for the start output or, without addresses of servers
 * and commands, for the public.
 */
export async function answeredBy(scope: Scope, reader: "operator" | "public"): Promise<string> {
  const mappings = scope.of(ModelMappings);
  const chosen = await Promise.all(scope.ports.catalog.models.map(({ id }) => mappings.for(id)));
  const connected = chosen.filter(({ credential }) => credential !== undefined).map(({ model }) => model);
  const isPublic = reader === "public";
  if (connected.length === 0)
    return isPublic
      ? "looked up locally, without a model"
      : "looked up locally; run `npm run connect` to use a model";
  const named = connected.map(({ model, provider }) => (isPublic ? model : `${model} (${provider})`));
  const known = connected.filter(({ baseUrl }) => !isPublic || baseUrl === undefined);
  const providers = distinct(known.map(({ provider }) => provider));
  const models = providers.length === 0 ? "several models" : `models of ${providers.join(", ")}`;
  const by = distinct(named).length === 1 ? named[0]! : models;
  const local = distinct(chosen.flatMap(({ model, credential }) => (credential ? [] : [model.provider])));
  const command = isPublic ? "" : " (`npm run connect`)";
  const rest = `; identifiers of ${local.join(", ")} are looked up locally${command}`;
  return `written by ${by}${local.length === 0 ? "" : rest}`;
}

const distinct = (values: readonly string[]): string[] => [...new Set(values)];
