import {
  Expanded,
  isFields,
  nameOfFunction,
  Secret,
  sentValue,
  serversOf,
  withServers,
  type Fields,
} from "./kinds";

/** Shorter values are not masked: they are hardly secrets, and occur in other words. */
const MIN_LENGTH = 4;

/** Replaces the values of variables in a text by the variables of the file, because the values may be secret. */
export function masked(text: string, fields: unknown): string {
  const values = valuesIn(fields)
    .filter(([value]) => value.length >= MIN_LENGTH)
    .sort(([one], [other]) => other.length - one.length);
  return values.reduce((masked, [value, form]) => masked.replaceAll(value, () => form), text);
}

/** Values of variables, each with the text that stands for it in the file. */
function valuesIn(value: unknown): (readonly [value: string, form: string])[] {
  if (value instanceof Expanded) {
    const variables = Object.entries(value.variables).map(([name, one]) => [one, `\${${name}}`] as const);
    return [[value.value, value.form], ...variables];
  }
  if (value instanceof Secret)
    return value.value === undefined || value.variable === undefined
      ? []
      : [[value.value, `\${${value.variable}}`]];
  if (Array.isArray(value)) return value.flatMap(valuesIn);
  return isFields(value) ? Object.values(value).flatMap(valuesIn) : [];
}

/**
 * Hides addresses of the server's value that may come from variables. An address is shown only if the file has an address
 * without variables at the same place, or the same address anywhere.
 */
export function withoutOldAddresses(before: unknown, after: unknown): unknown {
  if (after instanceof Expanded) return before == null ? before : "(another value)";
  if (!Array.isArray(before) || !Array.isArray(after)) return before;
  const items = after.filter(isFields);
  return before.map((item: unknown) =>
    isFields(item)
      ? withServers(item, ({ fields, url }) =>
          typeof fields[url] === "string"
            ? { ...fields, [url]: shownAddress(fields[url], nameOfFunction(item), items) }
            : fields,
        )
      : item,
  );
}

function shownAddress(address: string, name: string, items: readonly Fields[]): unknown {
  const addressesOf = (item: Fields) => serversOf(item).map(({ fields, url }) => fields[url]);
  const same = items.flatMap(addressesOf).find((one) => sentValue(one) === address);
  if (same !== undefined) return same;
  const wanted = items
    .filter((item) => nameOfFunction(item) === name)
    .flatMap(addressesOf)
    .filter((one) => one !== undefined);
  return wanted.length > 0 && !wanted.some((one) => one instanceof Expanded) ? address : "(another address)";
}
