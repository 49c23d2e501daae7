import { CHANNELS, isFields, nameOfFunction, Secret, serverOf, withServer, type Fields } from "./kinds";
import type { LocalRecord } from "./folder";

/**
 * The fields of an assistant's file, with the stored secret of each function whose variable is not set.
 * @param problems gets a line for each function without any secret
 */
export function withStoredSecrets(
  local: LocalRecord,
  fields: Fields,
  before: Fields,
  problems: string[],
): Fields {
  const channels = CHANNELS.flatMap((channel) => {
    const after = fields[channel];
    if (!isFields(after) || !Array.isArray(after.functions)) return [];
    const stored = ((before[channel] as Fields | undefined)?.functions ?? []) as readonly Fields[];
    const functions = after.functions.map((item: Fields, index) => {
      const filled = withStoredSecret(item, stored);
      if (typeof filled !== "string") return filled;
      problems.push(local.file.problemAt([channel, "functions", index], filled));
      return item;
    });
    return [[channel, { ...after, functions }] as const];
  });
  return { ...fields, ...Object.fromEntries(channels) };
}

/** @returns the reason, if there is no secret */
function withStoredSecret(item: Fields, stored: readonly Fields[]): Fields | string {
  const { server, secret, url } = serverOf(item);
  const own = server[secret];
  if (!(own instanceof Secret) || own.value !== undefined) return item;
  const name = nameOfFunction(item);
  const known = stored.filter((one) => nameOfFunction(one) === name).map(storedServer);
  const match = known.find((one) => one.origin === originOf(server[url]));
  if (match?.secret) return withServer(item, { [secret]: match.secret });
  const reason = known.some((one) => one.secret)
    ? "the stored secret is for another address"
    : "the server has no secret for it yet";
  return `The function "${name}" needs the environment variable ${own.variable}, which is not set: ${reason}.`;
}

function storedServer(item: Fields) {
  const { server, secret, url } = serverOf(item);
  const value = server[secret];
  return { origin: originOf(server[url]), secret: value instanceof Secret ? value : undefined };
}

const originOf = (url: unknown): string | undefined =>
  typeof url === "string" && URL.canParse(url) ? new URL(url).origin : undefined;
