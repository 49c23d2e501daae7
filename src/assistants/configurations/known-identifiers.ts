import { idsFor, type Catalog, type Channel } from "../../platform/catalog/load-catalog";
import type { ConfigurationKind } from "./configurations";

type Identifiers = readonly (readonly [field: string, ids: ReadonlySet<string>, first: string])[];
const cache = new WeakMap<Catalog, Readonly<Record<ConfigurationKind, Identifiers>>>();

/** The known identifiers of each configuration, by field. */
function identifiersOf(catalog: Catalog): Readonly<Record<ConfigurationKind, Identifiers>> {
  const { providers, models, speechProviders, voices } = catalog;
  const field = (name: string, ids: readonly string[]) => [name, new Set(ids), ids[0]!] as const;
  const text = (channel: Channel) => [
    field("provider", idsFor(providers, channel)),
    field("model", idsFor(models, channel)),
  ];
  const ids = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);
  const speech = [field("voiceProvider", ids(speechProviders)), field("voice", ids(voices))];
  return { voice: [...text("VOICE"), ...speech], sms: text("SMS"), chat: text("TEXT"), theme: [] };
}

/**
 * Replaces identifiers that the catalog no longer has, after a change of CATALOG_FILE, with the first one of the
 * catalog, because the GraphQL enums lack them. Warnings show the stored identifiers.
 */
export function withKnownIdentifiers<C extends object>(
  kind: ConfigurationKind,
  stored: C,
  catalog: Catalog,
): C {
  const identifiers = cache.get(catalog) ?? identifiersOf(catalog);
  cache.set(catalog, identifiers);
  let result = stored;
  for (const [field, ids, first] of identifiers[kind])
    if (field in stored && !ids.has((stored as Record<string, string>)[field]!))
      result = { ...result, [field]: first };
  return result;
}
