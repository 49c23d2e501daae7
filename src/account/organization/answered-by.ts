import type { Scope } from "../../platform/database/scope";
import { ModelMappings } from "./model-mappings";

/** Which models answer for an organization's identifiers, as text for the start output. */
export async function answeredBy(scope: Scope): Promise<string> {
  const mappings = scope.of(ModelMappings);
  const chosen = await Promise.all(scope.ports.catalog.models.map(({ id }) => mappings.for(id)));
  const connected = chosen.filter(({ credential }) => credential !== undefined);
  if (connected.length === 0) return "looked up locally; run `npm run connect` to use a model";
  const names = [...new Set(connected.map(({ model }) => `${model.model} (${model.provider})`))];
  const providers = [...new Set(connected.map(({ model }) => model.provider))];
  const by = names.length === 1 ? names[0]! : `models of ${providers.join(", ")}`;
  const local = [...new Set(chosen.flatMap(({ model, credential }) => (credential ? [] : [model.provider])))];
  const rest = `; identifiers of ${local.join(", ")} are looked up locally (\`npm run connect\`)`;
  return `written by ${by}${local.length === 0 ? "" : rest}`;
}
