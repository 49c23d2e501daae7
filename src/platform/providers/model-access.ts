import type { Catalog } from "../catalog/load-catalog";
import type { Models } from "../ports/ports";
import type { Config } from "../settings/config";
import { mistake } from "../mistake";

type Credentials = Models["credentials"];

/** The credentials of all providers, and the model for all other identifiers. @throws Error naming an invalid setting */
export function modelAccess(settings: Config, catalog: Catalog): Pick<Models, "credentials" | "fallback"> {
  const credentials = providerCredentials(settings, catalog);
  const fallback = fallbackModel(settings, catalog, credentials);
  return { credentials, ...(fallback && { fallback }) };
}

/** Beginning of the names of a provider's settings, such as `OPENAI` in OPENAI_API_KEY. */
export const prefixOf = (provider: string): string => provider.toUpperCase();

/** Keys and base URLs of all providers of the catalog. */
function providerCredentials({ providerVariables: given }: Config, { providers }: Catalog): Credentials {
  return Object.fromEntries(
    providers.map(({ id }) => {
      const apiKey = given[`${prefixOf(id)}_API_KEY`];
      const baseUrl = given[`${prefixOf(id)}_BASE_URL`];
      if (baseUrl !== undefined && !(URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol)))
        throw mistake(new Error(`${prefixOf(id)}_BASE_URL must be an http or https URL; got "${baseUrl}".`));
      return [id, { ...(apiKey !== undefined && { apiKey }), ...(baseUrl !== undefined && { baseUrl }) }];
    }),
  );
}

function fallbackModel(settings: Config, { providers }: Catalog, known: Credentials): Models["fallback"] {
  const { MODEL_NAME: model, MODEL_BASE_URL: baseUrl, MODEL_API_KEY: apiKey, MODEL_PROVIDER: by } = settings;
  if (model === undefined) return undefined;
  if (baseUrl !== undefined)
    return {
      model: { provider: new URL(baseUrl).host, model, baseUrl },
      credential: { baseUrl, guarded: false, ...(apiKey !== undefined && { apiKey }) },
    };
  const provider = providers.find(({ id }) => prefixOf(id) === prefixOf(by ?? ""))?.id;
  if (provider === undefined)
    throw mistake(
      new Error(
        `MODEL_PROVIDER must be a provider of the catalog (${providers.map(({ id }) => id).join(", ")}); got "${by}".`,
      ),
    );
  return { model: { provider, model }, credential: { guarded: false, ...known[provider] } };
}
