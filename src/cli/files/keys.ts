const MAX_LENGTH = 60;

/** A key that is made of a text: lowercase letters, digits and hyphens. @param taken keys that it must not be */
export function slugOf(text: string, otherwise: string, taken: ReadonlySet<string>): string {
  const slug =
    text
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .slice(0, MAX_LENGTH)
      .replaceAll(/^-|-$/g, "") || otherwise;
  if (!taken.has(slug)) return slug;
  for (let number = 2; ; number++) if (!taken.has(`${slug}-${number}`)) return `${slug}-${number}`;
}
