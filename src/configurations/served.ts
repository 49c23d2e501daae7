import { idsFor, type Catalog } from "../catalog/load-catalog";
import type { ConfigurationKind } from "./configurations";

type Identifiers = Readonly<Record<string, readonly string[]>>;
const remembered = new WeakMap<Catalog, Readonly<Record<ConfigurationKind, Identifiers>>>();

/** By field, the identifiers that each configuration may name. */
function identifiersOf(catalog: Catalog): Readonly<Record<ConfigurationKind, Identifiers>> {
  const { providers, models, speechProviders, voices } = catalog;
  const text = (channel: "VOICE" | "SMS" | "TEXT") => ({
    provider: idsFor(providers, channel),
    model: idsFor(models, channel),
  });
  const ids = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);
  return {
    voice: { ...text("VOICE"), voiceProvider: ids(speechProviders), voice: ids(voices) },
    sms: text("SMS"),
    chat: text("TEXT"),
    theme: {},
  };
}

/**
 * A stored configuration as it is shown. An identifier that the catalogue lacks, because CATALOG_FILE has changed since,
 * gives way to the catalogue's first: no enumeration has it any more. The warnings name what is stored.
 */
export function served<C extends object>(kind: ConfigurationKind, stored: C, catalog: Catalog): C {
  const identifiers = remembered.get(catalog) ?? identifiersOf(catalog);
  remembered.set(catalog, identifiers);
  const gone = Object.entries(identifiers[kind]).filter(
    ([field, ids]) => !ids.includes((stored as Record<string, string>)[field]!),
  );
  return gone.length === 0
    ? stored
    : { ...stored, ...Object.fromEntries(gone.map(([field, ids]) => [field, ids[0]])) };
}
