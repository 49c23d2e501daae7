import { idsFor, type Catalog, type Channel } from "../../platform/catalog/load-catalog";
import type { ConfigurationKind } from "./configurations";

type Identifiers = readonly (readonly [field: string, ids: ReadonlySet<string>, first: string])[];
const cache = new WeakMap<Catalog, Readonly<Record<ConfigurationKind, Identifiers>>>();

/** By field, the identifiers that each configuration may name. */
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
 * A stored configuration, or a part of it, as it is shown. An identifier that the catalogue lacks, because CATALOG_FILE
 * has changed since, gives way to the catalogue's first: no enumeration has it any more. The warnings name what is
 * stored.
 */
export function withKnownIdentifiers<C extends object>(
  kind: ConfigurationKind,
  stored: C,
  catalog: Catalog,
): C {
  const identifiers = cache.get(catalog) ?? identifiersOf(catalog);
  cache.set(catalog, identifiers);
  let shown = stored;
  for (const [field, ids, first] of identifiers[kind])
    if (field in stored && !ids.has((stored as Record<string, string>)[field]!))
      shown = { ...shown, [field]: first };
  return shown;
}
