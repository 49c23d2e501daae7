import { ModelCredentials } from "../../account/organization/model-credentials";
import { ModelMappings } from "../../account/organization/model-mappings";
import type { Scope } from "../../platform/database/scope";
import type { EnvChange } from "./env-change";
import { writeEnv } from "./env-file";
import type { Target } from "./target";

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

/**
 * Makes the settings answer for every identifier: removes the mappings of the organization, which would take
 * precedence, and writes the settings to `.env` unless they must be changed in the environment.
 */
export async function storeInSettings(
  scope: Scope,
  { file, values, unset, isStored }: EnvChange,
): Promise<void> {
  const { models } = scope.ports.catalog;
  await scope.transaction((scope) => scope.of(ModelMappings).clear(models.map(({ id }) => id)));
  if (isStored) writeEnv(file, values, unset);
}
