import { ModelCredentials } from "../../account/organization/model-credentials";
import { ModelMappings } from "../../account/organization/model-mappings";
import type { Scope } from "../../platform/database/scope";
import { prefixOf } from "../../platform/providers/model-access";
import { writeEnv } from "./env-file";
import type { Target } from "./target";

const FALLBACK = ["MODEL_NAME", "MODEL_BASE_URL", "MODEL_API_KEY", "MODEL_PROVIDER"];

/**
 * Stores the target for an organization. An address, and a model that was chosen, answer for every identifier. Otherwise
 * the provider's own identifiers keep their models, and its usual model answers for identifiers that would otherwise have no model.
 */
export async function storeForOrganization(scope: Scope, target: Target): Promise<void> {
  const { provider, baseUrl, apiKey, name, chosen } = target;
  const { models } = scope.ports.catalog;
  await scope.transaction(async (scope) => {
    const mappings = scope.of(ModelMappings);
    if (provider !== undefined) await scope.of(ModelCredentials).set(provider, apiKey ?? null, null);
    for (const model of models) {
      if (!chosen && model.provider === provider) await mappings.clear([model.id]);
      else if (chosen || (await scope.of(ModelMappings).for(model.id)).credential === undefined)
        await mappings.set(model.id, provider === undefined ? { name, baseUrl, apiKey } : { name, provider });
    }
  });
}

/** Writes the target to `.env`, and removes the mappings of the organization, which would take precedence. */
export async function storeInEnv(scope: Scope, target: Target, file: string): Promise<void> {
  const { provider, baseUrl, apiKey, name } = target;
  const values: Record<string, string> =
    provider === undefined
      ? { MODEL_NAME: name, MODEL_BASE_URL: baseUrl!, ...(apiKey !== undefined && { MODEL_API_KEY: apiKey }) }
      : { [`${prefixOf(provider)}_API_KEY`]: apiKey!, MODEL_NAME: name, MODEL_PROVIDER: provider };
  const { models } = scope.ports.catalog;
  await scope.transaction((scope) => scope.of(ModelMappings).clear(models.map(({ id }) => id)));
  writeEnv(file, values, FALLBACK);
}
